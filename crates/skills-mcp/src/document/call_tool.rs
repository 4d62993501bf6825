//! `tools/call`: checks the arguments, calls the agent, writes the result.

use std::borrow::Cow;

use agent3md::tool_text::{self, MatchHead, UnknownSkill};
use agent3md::{Skill, SkillSelector, js_number};
use rmcp::ErrorData;
use serde::Serialize;
use serde_json::value::RawValue;

use super::served_agent::ServedAgent;
use super::tools::Tool;
use super::version::Version;
use crate::jsonrpc::{self, Members, string, type_name, write_json};

/// A call with valid arguments.
enum ToolCall<'a> {
    List,
    Route(Cow<'a, str>),
    Get(SkillRef<'a>),
    Resolve(SkillRef<'a>),
}

/// A skill by name or by position.
enum SkillRef<'a> {
    Name(Cow<'a, str>),
    Z(f64),
}

impl SkillRef<'_> {
    fn selector(&self) -> SkillSelector<'_> {
        match self {
            Self::Name(name) => SkillSelector::Name(name),
            Self::Z(z) => SkillSelector::Z(*z),
        }
    }
}

/// The structured result of `route_skill`; a structured result must be an object.
#[derive(Serialize)]
struct Matches<'a> {
    matches: Vec<MatchHead<'a>>,
}

/// The structured result of `resolve_skill`.
#[derive(Serialize)]
struct Skills<'a> {
    skills: Vec<SkillBody<'a>>,
}

/// The structured result of `get_skill`.
#[derive(Serialize)]
struct SkillBody<'a> {
    name: &'a str,
    z: Box<RawValue>,
    body: &'a str,
}

impl<'a> SkillBody<'a> {
    fn of(skill: &'a Skill) -> Self {
        let z = js_number(skill.z);
        Self {
            name: &skill.name,
            z: RawValue::from_string(z).unwrap_or_default(),
            body: &skill.body,
        }
    }
}

/// Writes the result of a call. Bad arguments are a result too, marked as an error, so that the
/// model can correct them.
pub fn call_tool(
    agent: &ServedAgent,
    version: Version,
    params: &Members<'_>,
    out: &mut Vec<u8>,
) -> Result<(), ErrorData> {
    let missing = || jsonrpc::invalid_params("name is missing; it says which tool to call");
    let name = params.string("name").ok_or_else(missing)??;
    let unknown = || ErrorData::invalid_params(format!("unknown tool: {name}"), None);
    let tool = Tool::named(&name).ok_or_else(unknown)?;
    let mut result = ResultWriter { version, out };
    match parse_call(tool, params) {
        Ok(call) => run(agent, &call, &mut result),
        Err(problem) => result.error(&problem),
    }
    Ok(())
}

/// Checks the arguments of a call; the error is for the model.
fn parse_call<'a>(tool: Tool, params: &Members<'a>) -> Result<ToolCall<'a>, String> {
    let arguments = match params.get("arguments") {
        Some(given) if given.get() != "null" => Members::of(given)
            .ok_or_else(|| format!("arguments must be an object, not {}", type_name(given)))?,
        _ => Members::default(),
    };
    let known = tool.arguments();
    if let Some(unknown) = arguments.names().find(|name| !known.contains(name)) {
        let known = match known {
            [] => "no arguments".into(),
            known => known.join(" or "),
        };
        let tool = tool.name();
        return Err(format!(
            "unknown argument: {unknown} ({tool} takes {known})"
        ));
    }
    Ok(match tool {
        Tool::List => ToolCall::List,
        Tool::Route => ToolCall::Route(string_argument(&arguments, "text")?),
        Tool::Get => ToolCall::Get(skill_argument(&arguments)?),
        Tool::Resolve => ToolCall::Resolve(skill_argument(&arguments)?),
    })
}

fn string_argument<'a>(arguments: &Members<'a>, name: &str) -> Result<Cow<'a, str>, String> {
    let given = arguments
        .get(name)
        .ok_or_else(|| format!("missing argument: {name} (a string)"))?;
    string(given).ok_or_else(|| {
        let kind = type_name(given);
        format!("argument {name} must be a string, not {kind}")
    })
}

fn skill_argument<'a>(arguments: &Members<'a>) -> Result<SkillRef<'a>, String> {
    let Some(z) = arguments.get("z") else {
        return string_argument(arguments, "name").map(SkillRef::Name);
    };
    if arguments.get("name").is_some() {
        return Err("give either name or z, not both".into());
    }
    // A number like `1e999` is valid JSON but too large for `f64`.
    serde_json::from_str(z.get()).map(SkillRef::Z).map_err(|_| {
        let shown = match type_name(z) {
            "a number" if z.get().len() < 40 => z.get(),
            kind => kind,
        };
        format!("argument z must be a number, not {shown}")
    })
}

fn run(served: &ServedAgent, call: &ToolCall<'_>, result: &mut ResultWriter<'_>) {
    let agent = &served.agent;
    match call {
        ToolCall::List => result.write(
            |out| out.extend_from_slice(served.list_text().as_bytes()),
            Some(|out: &mut Vec<u8>| out.extend_from_slice(served.list_data().as_bytes())),
        ),
        ToolCall::Route(text) => {
            let data = || {
                let matches = agent.route(text).into_iter().map(MatchHead::from);
                let matches = matches.collect();
                Matches { matches }
            };
            result.text(&tool_text::route_skill(agent, text), data);
        }
        ToolCall::Get(skill) => match agent.get(skill.selector()) {
            Some(skill) => result.text(&skill.body, || SkillBody::of(skill)),
            None => result.unknown(skill),
        },
        ToolCall::Resolve(skill) => match tool_text::resolve_skill(agent, skill.selector()) {
            Ok(text) => result.text(&text, || {
                let chain = agent.resolve(skill.selector()).unwrap_or_default();
                let skills = chain.into_iter().map(SkillBody::of).collect();
                Skills { skills }
            }),
            Err(_) => result.unknown(skill),
        },
    }
}

/// Writes the result of a call in the shape of a protocol version.
struct ResultWriter<'o> {
    version: Version,
    out: &'o mut Vec<u8>,
}

impl ResultWriter<'_> {
    /// Writes a text and structured data; without data, the text is an error.
    fn write(&mut self, text: impl FnOnce(&mut Vec<u8>), data: Option<impl FnOnce(&mut Vec<u8>)>) {
        self.out.push(b'{');
        if self.version == Version::V2026_07_28 {
            self.out.extend_from_slice(br#""resultType":"complete","#);
        }
        self.out
            .extend_from_slice(br#""content":[{"type":"text","text":"#);
        text(self.out);
        self.out.extend_from_slice(b"}]");
        match data {
            Some(data) if self.version >= Version::V2025_06_18 => {
                self.out.extend_from_slice(br#","structuredContent":"#);
                data(self.out);
            }
            Some(_) => {}
            None => self.out.extend_from_slice(br#","isError":true"#),
        }
        self.out.push(b'}');
    }

    fn text<T: Serialize>(&mut self, text: &str, data: impl FnOnce() -> T) {
        let data = |out: &mut Vec<u8>| write_json(out, &data());
        self.write(|out| write_json(out, text), Some(data));
    }

    fn error(&mut self, problem: &str) {
        self.write(|out| write_json(out, problem), None::<fn(&mut Vec<u8>)>);
    }

    fn unknown(&mut self, skill: &SkillRef<'_>) {
        self.error(&UnknownSkill::from(skill.selector()).to_string());
    }
}
