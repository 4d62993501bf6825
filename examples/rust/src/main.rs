//! A worker that publishes one skill, one live section of it and one slash command,
//! and prints every change of the registry.
//!
//! The engine is at `III_URL`, or `ws://127.0.0.1:49134` without it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example talks to its reader"
)]

use std::time::Duration;

use iii_sdk::protocol::{RegisterTriggerInput, TriggerRequest};
use iii_sdk::{Error, IIIClient, InitOptions, RegisterFunction, register_worker_from_env};
use serde_json::{Value, json};

const SKILL: &str = "# demo

Shows how a worker publishes its knowledge.

Read the [guide](iii://fn/demo/guide) before calling anything; it is written when you ask.
";

const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let iii = register_worker_from_env(InitOptions::default());
    offer(&iii)?;
    tokio::select! {
        () = publish(&iii) => tokio::signal::ctrl_c().await?,
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    iii.shutdown_async().await;
    Ok(())
}

/// The functions behind the skill's section, the slash command and the notices.
fn offer(iii: &IIIClient) -> Result<(), Error> {
    let guide = |_: Value| {
        Ok::<_, Error>(
            json!({ "content": "# Demo guide\n\nWritten just now by the Rust worker.\n" }),
        )
    };
    iii.register_function(
        "demo::guide",
        RegisterFunction::new(guide).description("The long version of the demo skill."),
    );

    let greet = |input: Value| {
        // The registry does not check arguments; their handler does.
        let name = input["name"]
            .as_str()
            .ok_or_else(|| Error::Handler("`name` is missing".into()))?;
        Ok::<_, Error>(json!({ "content": format!("Greet {name} warmly.") }))
    };
    iii.register_function(
        "demo::greet",
        RegisterFunction::new(greet).description("Writes the message of /greet."),
    );

    let changed = |change: Value| {
        let what = change["id"]
            .as_str()
            .or(change["name"].as_str())
            .unwrap_or("?");
        println!("changed: {} {what}", change["op"].as_str().unwrap_or("?"));
        Ok::<_, Error>(Value::Null)
    };
    iii.register_function("demo::changed", RegisterFunction::new(changed));
    for trigger_type in ["skills::on-change", "prompts::on-change"] {
        #[expect(
            deprecated,
            reason = "its successor `observe` works on 0.25 engines only"
        )]
        iii.register_trigger(RegisterTriggerInput::new(
            trigger_type,
            "demo::changed",
            json!({}),
        ))?;
    }
    Ok(())
}

/// Registers the skill and the slash command, on every start: what was stored by an
/// older version of this worker is replaced.
async fn publish(iii: &IIIClient) {
    let skill = json!({ "id": "demo", "skill": SKILL });
    let prompt = json!({
        "name": "greet",
        "description": "Compose a greeting",
        "arguments": [{ "name": "name", "description": "Whom to greet", "required": true }],
        "function_id": "demo::greet",
    });
    until_accepted(iii, "skills::register", &skill).await;
    until_accepted(iii, "prompts::register", &prompt).await;
    println!("published");
}

/// Calls until it works: the registry may start after this worker.
async fn until_accepted(iii: &IIIClient, function_id: &str, payload: &Value) {
    let mut wait = FIRST_WAIT;
    loop {
        let request = TriggerRequest {
            timeout_ms: Some(2_000),
            ..TriggerRequest::new(function_id, payload.clone())
        };
        let Err(error) = iii.trigger(request).await else {
            return;
        };
        eprintln!("{function_id}: {error}; trying again in {wait:?}");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}
