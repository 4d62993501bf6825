//! `skills mcp --selftest agent.3md`: starts the server as a client would, calls each tool, and
//! holds the answers against the document.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use agent3md::{Agent, answer};
use serde_json::{Value, json};

use super::{load, say, write_line};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub fn run(path: &Path) -> ExitCode {
    let agent = match load(path) {
        Ok((_, agent)) => agent,
        Err(problem) => {
            say(&problem);
            return ExitCode::FAILURE;
        }
    };
    let (report, fine) = match Talk::start(path).and_then(|talk| talk.check(&agent)) {
        Ok(report) => report,
        Err(problem) => {
            say(&format!("selftest: {problem}"));
            return ExitCode::FAILURE;
        }
    };
    // A reader that has seen enough is no failure.
    let _ = std::io::stdout().write_all(report.as_bytes());
    if fine {
        ExitCode::SUCCESS
    } else {
        write_line("[agent-3md mcp] selftest: failed");
        ExitCode::FAILURE
    }
}

/// A conversation with a server of our own.
struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    asked: u64,
}

impl Drop for Talk {
    fn drop(&mut self) {
        // Ended already, in most cases.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Talk {
    fn start(path: &Path) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(program)
            .arg("mcp")
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("the server does not start: {error}"))?;
        let (sender, answers) = mpsc::channel();
        let (input, output) = (child.stdin.take(), child.stdout.take());
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|o| BufReader::new(o).lines());
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            child,
            input,
            answers,
            asked: 0,
        })
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked;
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        if let Some(input) = &mut self.input {
            let sent = writeln!(input, "{line}").and_then(|()| input.flush());
            sent.map_err(|error| format!("the server does not listen: {error}"))?;
        }
        let answer = self.answers.recv_timeout(PATIENCE);
        let answer = answer.map_err(|_| format!("no answer to {method} within {PATIENCE:?}"))?;
        let answer: Value = serde_json::from_str(&answer)
            .map_err(|error| format!("the answer to {method} is no JSON: {error}"))?;
        if answer["id"] != json!(id) {
            return Err(format!("the answer to {method} has another id: {answer}"));
        }
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(format!("{method} was refused: {}", answer["error"])),
        }
    }

    /// The text of a tool's answer, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<(String, bool), String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.ask("tools/call", &params)?;
        let text = result["content"][0]["text"].as_str();
        let text = text.ok_or_else(|| format!("{tool} answered without a text: {result}"))?;
        Ok((text.to_owned(), result["isError"] == json!(true)))
    }

    /// Asks everything; answers the report and whether all was as it should be.
    fn check(mut self, agent: &Agent) -> Result<(String, bool), String> {
        let mut report = Report::default();
        let hello = self.ask("initialize", &json!({ "protocolVersion": "2024-11-05" }))?;
        let name = &hello["serverInfo"]["name"];
        report.line(
            "initialize",
            name == &json!(answer::server_name(agent)),
            name,
        );
        self.ask("ping", &json!({}))?;
        report.line("ping", true, "");
        let tools = self.ask("tools/list", &json!({}))?;
        let tools = tools["tools"].as_array().map_or(0, Vec::len);
        report.line("tools/list", tools == 4, format!("{tools} tools"));

        let list = self.call("list_skills", &json!({}))?;
        let count = format!("{} skills", agent.skills().len());
        report.line(
            "list_skills",
            list == (answer::list_skills(agent), false),
            count,
        );

        let phrase = agent.skills().flat_map(|skill| &skill.triggers).next();
        let phrase = phrase.map_or("nothing at all", String::as_str);
        let route = self.call("route_skill", &json!({ "text": phrase }))?;
        let expected = (answer::route_skill(agent, phrase), false);
        report.line("route_skill", route == expected, format!("{phrase:?}"));

        if let Some(skill) = agent.skills().next() {
            let arguments = json!({ "name": skill.name });
            let get = self.call("get_skill", &arguments)?;
            let size = format!("{:?}, {} bytes", skill.name, skill.body.len());
            report.line("get_skill", get == (skill.body.clone(), false), size);
            let resolved = self.call("resolve_skill", &arguments)?;
            let expected = answer::resolve_skill(agent, skill.name.as_str());
            let chain = agent
                .resolve(skill.name.as_str())
                .map_or(0, |chain| chain.len());
            let fine = Ok(resolved.0) == expected && !resolved.1;
            report.line("resolve_skill", fine, format!("{chain} in the chain"));
        }
        let nobody = "no skill has this name, surely";
        let (text, refused) = self.call("get_skill", &json!({ "name": nobody }))?;
        let known = agent.get(nobody).is_some();
        report.line("unknown skill", refused != known, text);

        drop(self.input.take());
        let ended = self.child.wait().map_err(|error| error.to_string())?;
        report.line("end of input", ended.success(), ended);
        Ok((report.text, report.fine))
    }
}

struct Report {
    text: String,
    fine: bool,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            text: String::new(),
            fine: true,
        }
    }
}

impl Report {
    fn line(&mut self, what: &str, fine: bool, detail: impl std::fmt::Display) {
        self.fine &= fine;
        let verdict = if fine { "ok" } else { "FAILED" };
        // Writing to a string cannot fail.
        let line = format!("{verdict:<6}  {what:<13}  {detail}");
        let _ = writeln!(self.text, "{}", line.trim_end());
    }
}
