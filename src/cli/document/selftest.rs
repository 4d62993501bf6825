//! `skills mcp --selftest agent.3md`: starts the server in a process of its own, as a client
//! does, calls each tool, and compares the results with the document.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use agent3md::{Agent, tool_text};
use serde_json::{Value, json};

use crate::cli::output::print;

/// How long the server may take to answer every request.
const SELFTEST_TIMEOUT: Duration = Duration::from_secs(30);

pub fn run(path: &Path, agent: &Agent) -> Result<(), String> {
    let steps = steps(agent);
    let failed = |error: std::io::Error| format!("selftest: cannot run the server: {error}");
    let mut server = Command::new(std::env::current_exe().map_err(failed)?)
        .arg("mcp")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let (input, output) = (server.stdin.take(), server.stdout.take());
    let requests: Vec<u8> = (0..).zip(&steps).flat_map(Step::request).collect();
    // On other threads: the server reads no further while its results are not read, and a
    // server that hangs must not block the selftest. A server that ends early is reported by
    // its missing responses.
    std::thread::spawn(move || input.map(|mut input| input.write_all(&requests)));
    let (sender, text) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = output.map(|mut output| output.read_to_end(&mut text));
        sender.send(read.transpose().map(|_| text))
    });
    let Ok(text) = text.recv_timeout(SELFTEST_TIMEOUT) else {
        // Already ended if this fails.
        let _ = server.kill();
        return Err(format!(
            "selftest: the server did not finish within {SELFTEST_TIMEOUT:?}"
        ));
    };
    let text = text.map_err(failed)?;
    let status = server.wait().map_err(failed)?;
    let text = String::from_utf8_lossy(&text);
    let responses: Vec<Value> = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let mut report = String::new();
    let mut passed = true;
    let mut line = |label: &str, is_ok: bool, detail: &str| {
        passed &= is_ok;
        let verdict = if is_ok { "ok" } else { "FAILED" };
        let line = format!("{verdict:<6}  {label:<13}  {detail}");
        // Writing to a string cannot fail.
        let _ = writeln!(report, "{}", line.trim_end());
    };
    for (id, step) in steps.iter().enumerate() {
        let response = responses.iter().find(|response| response["id"] == id);
        let is_ok = response.is_some_and(|response| (step.check)(&response["result"]));
        line(step.label, is_ok, &step.detail);
    }
    line("end of input", status.success(), &status.to_string());
    print(&report).map_err(|error| error.message)?;
    if passed {
        Ok(())
    } else {
        Err("selftest: failed".into())
    }
}

/// One request and what its result must be.
struct Step {
    label: &'static str,
    method: &'static str,
    params: Value,
    detail: String,
    check: Box<dyn Fn(&Value) -> bool>,
}

impl Step {
    fn request((id, step): (usize, &Self)) -> Vec<u8> {
        let (method, params) = (step.method, &step.params);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        format!("{request}\n").into_bytes()
    }

    /// A call of the tool `tool` that must return this text.
    fn tool(tool: &'static str, arguments: &Value, detail: String, expected: String) -> Self {
        Self {
            label: tool,
            method: "tools/call",
            params: json!({ "name": tool, "arguments": arguments }),
            detail,
            check: Box::new(move |result| {
                result["content"][0]["text"] == *expected && result["isError"] != json!(true)
            }),
        }
    }
}

fn steps(agent: &Agent) -> Vec<Step> {
    let name = tool_text::server_name(agent);
    let phrase = agent.skills().flat_map(|skill| &skill.triggers).next();
    let phrase = phrase.map_or("nothing at all", String::as_str);
    let mut steps = vec![
        Step {
            label: "initialize",
            method: "initialize",
            params: json!({ "protocolVersion": "2024-11-05" }),
            detail: format!("{name:?}"),
            check: Box::new(move |result| result["serverInfo"]["name"] == *name),
        },
        Step {
            label: "ping",
            method: "ping",
            params: json!({}),
            detail: String::new(),
            check: Box::new(Value::is_object),
        },
        Step {
            label: "tools/list",
            method: "tools/list",
            params: json!({}),
            detail: "4 tools".into(),
            check: Box::new(|result| result["tools"].as_array().is_some_and(|t| t.len() == 4)),
        },
        Step::tool(
            "list_skills",
            &json!({}),
            format!("{} skills", agent.skills().len()),
            tool_text::list_skills(agent),
        ),
        Step::tool(
            "route_skill",
            &json!({ "text": phrase }),
            format!("{phrase:?}"),
            tool_text::route_skill(agent, phrase),
        ),
    ];
    if let Some(skill) = agent.skills().next() {
        let (name, arguments) = (skill.name.as_str(), json!({ "name": skill.name }));
        let size = format!("{name:?}, {} bytes", skill.body.len());
        let chain = agent.resolve(name).map_or(0, |chain| chain.len());
        let resolved = tool_text::resolve_skill(agent, name).unwrap_or_default();
        steps.extend([
            Step::tool("get_skill", &arguments, size, skill.body.clone()),
            Step::tool(
                "resolve_skill",
                &arguments,
                format!("{chain} in the chain"),
                resolved,
            ),
        ]);
    }
    let unknown = "no skill has this name";
    let exists = agent.get(unknown).is_some();
    steps.push(Step {
        label: "unknown skill",
        method: "tools/call",
        params: json!({ "name": "get_skill", "arguments": { "name": unknown } }),
        detail: format!("{unknown:?}"),
        check: Box::new(move |result| exists || result["isError"] == json!(true)),
    });
    steps
}
