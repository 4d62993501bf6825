//! The quickstart of the README in Rust, for iii-sdk 0.25.0.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use iii_sdk::protocol::TriggerRequest;
use iii_sdk::{Error, InitOptions, RegisterFunction, register_worker_from_env};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // At III_URL, or ws://127.0.0.1:49134 without it.
    let iii = register_worker_from_env(InitOptions::default());
    let call = |id: &str, payload: Value| iii.trigger(TriggerRequest::new(id, payload));

    // A slash command is a function that renders its text, and a name for it.
    let greet = |args: Value| {
        let name = args["name"].as_str().unwrap_or("the world");
        Ok::<_, Error>(json!({ "content": format!("Greet {name} warmly.") }))
    };
    iii.register_function("demo::greet", RegisterFunction::new(greet));
    // A section is a function whose output is read at iii://fn/demo/guide.
    let guide = |_: Value| Ok::<_, Error>("# Guide\n\nThe long version.".to_owned());
    iii.register_function("demo::guide", RegisterFunction::new(guide));

    let skill = "# Demo\n\nWhen to greet.\n\nMore: [guide](iii://fn/demo/guide)\n";
    call("skills::register", json!({ "id": "demo", "skill": skill })).await?;
    let prompt = json!({
        "name": "greet",
        "description": "Compose a greeting.",
        "arguments": [{ "name": "name", "description": "Who to greet", "required": true }],
        "function_id": "demo::greet",
    });
    call("prompts::register", prompt).await?;

    // Read both back, as a client does.
    let uris = json!({ "uris": ["iii://demo", "iii://fn/demo/guide"] });
    let text = call("skill::fetch", uris).await?;
    println!("{}", text.as_str().unwrap_or_default());
    let args = json!({ "name": "greet", "arguments": { "name": "Ada" } });
    let rendered = call("prompts::mcp-get", args).await?;
    let text = rendered["messages"][0]["content"]["text"].as_str();
    println!("/greet Ada: {}", text.unwrap_or_default());
    println!("Published. This worker stays up for its handlers; Ctrl-C ends it.");
    tokio::signal::ctrl_c().await?;
    Ok(())
}
