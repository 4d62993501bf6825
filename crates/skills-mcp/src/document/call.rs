//! `tools/call`: checks the arguments, asks the agent, writes the result.

use std::borrow::Cow;

use agent3md::tool_text::{self, MatchHead, UnknownSkill};
use agent3md::{Skill, SkillSelector, js_number};
use serde::Serialize;
use serde_json::value::RawValue;

use super::served::Served;
use super::tools::Tool;
use super::version::Version;
use super::wire::{Members, Refusal, kind, string, write_json};

/// Arguments that were checked.
enum Asked<'a> {
    List,
    Route(Cow<'a, str>),
    Get(Which<'a>),
    Resolve(Which<'a>),
}

/// A skill by name or by position.
enum Which<'a> {
    Name(Cow<'a, str>),
    Z(f64),
}

impl Which<'_> {
    fn wanted(&self) -> SkillSelector<'_> {
        match self {
            Self::Name(name) => SkillSelector::Name(name),
            Self::Z(z) => SkillSelector::Z(*z),
        }
    }
}

/// Lists as data: the result of a tool is an object.
#[derive(Serialize)]
struct Matches<'a> {
    matches: Vec<MatchHead<'a>>,
}

#[derive(Serialize)]
struct Skills<'a> {
    skills: Vec<Full<'a>>,
}

/// A skill with its body, as data.
#[derive(Serialize)]
struct Full<'a> {
    name: &'a str,
    z: Box<RawValue>,
    body: &'a str,
}

impl<'a> Full<'a> {
    fn of(skill: &'a Skill) -> Self {
        let z = js_number(skill.z);
        Self {
            name: &skill.name,
            z: RawValue::from_string(z).unwrap_or_default(),
            body: &skill.body,
        }
    }
}

/// Writes the result of a call; what the caller can put right is a result too, marked as an error.
pub fn call(
    served: &Served,
    version: Version,
    params: &Members<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let missing = || Refusal::params("name is missing; it says which tool to call");
    let name = params.string("name").ok_or_else(missing)??;
    let tool = Tool::named(&name).ok_or_else(|| Refusal::no_tool(&name))?;
    let mut result = Outcome { version, out };
    match asked(tool, params)? {
        Ok(asked) => answer(served, &asked, &mut result),
        Err(problem) => result.error(&problem),
    }
    Ok(())
}

/// The arguments of a call; what is wrong with them, for the caller, inside.
fn asked<'a>(tool: Tool, params: &Members<'a>) -> Result<Result<Asked<'a>, String>, Refusal> {
    let given = params
        .get("arguments")
        .filter(|given| given.get() != "null");
    let Some(arguments) = given.map_or_else(|| Some(Members::default()), Members::of) else {
        let kind = given.map_or("nothing", kind);
        return Ok(Err(format!("arguments must be an object, not {kind}")));
    };
    let takes = tool.arguments();
    if let Some(unknown) = arguments.names().find(|name| !takes.contains(name)) {
        let (tool, takes) = (tool.name(), or_none(takes));
        let problem = format!("unknown argument: {unknown} ({tool} takes {takes})");
        return Ok(Err(problem));
    }
    Ok(match tool {
        Tool::List => Ok(Asked::List),
        Tool::Route => text(&arguments, "text")?.map(Asked::Route),
        Tool::Get => which(&arguments)?.map(Asked::Get),
        Tool::Resolve => which(&arguments)?.map(Asked::Resolve),
    })
}

fn or_none(takes: &[&str]) -> String {
    match takes {
        [] => "no arguments".into(),
        takes => takes.join(" or "),
    }
}

/// An argument that must be there and be a string.
fn text<'a>(arguments: &Members<'a>, name: &str) -> Result<Result<Cow<'a, str>, String>, Refusal> {
    let Some(given) = arguments.get(name) else {
        return Ok(Err(format!("missing argument: {name} (a string)")));
    };
    let text = string(given)?;
    Ok(text.ok_or_else(|| format!("argument {name} must be a string, not {}", kind(given))))
}

fn which<'a>(arguments: &Members<'a>) -> Result<Result<Which<'a>, String>, Refusal> {
    let Some(z) = arguments.get("z") else {
        return Ok(text(arguments, "name")?.map(Which::Name));
    };
    if arguments.get("name").is_some() {
        return Ok(Err("give either name or z, not both".into()));
    }
    // Text as large as `1e999` is a number in JSON and none here.
    let number = serde_json::from_str::<f64>(z.get()).ok();
    let problem = || format!("argument z must be a number, not {}", shown(z));
    Ok(number.map(Which::Z).ok_or_else(problem))
}

fn shown(value: &RawValue) -> &str {
    match kind(value) {
        "a number" if value.get().len() < 40 => value.get(),
        kind => kind,
    }
}

fn answer(served: &Served, asked: &Asked<'_>, result: &mut Outcome<'_>) {
    let agent = &served.agent;
    match asked {
        Asked::List => result.write(
            |out| out.extend_from_slice(served.list_text()),
            Some(|out: &mut Vec<u8>| out.extend_from_slice(served.list_data())),
        ),
        Asked::Route(text) => {
            let data = || {
                let matches = agent.route(text).into_iter().map(MatchHead::from);
                let matches = matches.collect();
                Matches { matches }
            };
            result.text(&tool_text::route_skill(agent, text), data);
        }
        Asked::Get(which) => match agent.get(which.wanted()) {
            Some(skill) => result.text(&skill.body, || Full::of(skill)),
            None => result.unknown(which),
        },
        Asked::Resolve(which) => match tool_text::resolve_skill(agent, which.wanted()) {
            Ok(text) => result.text(&text, || {
                let chain = agent.resolve(which.wanted()).unwrap_or_default();
                let skills = chain.into_iter().map(Full::of).collect();
                Skills { skills }
            }),
            Err(_) => result.unknown(which),
        },
    }
}

/// A result on its way out.
struct Outcome<'o> {
    version: Version,
    out: &'o mut Vec<u8>,
}

impl Outcome<'_> {
    fn write(&mut self, text: impl FnOnce(&mut Vec<u8>), data: Option<impl FnOnce(&mut Vec<u8>)>) {
        self.out.push(b'{');
        if self.version == Version::Stateless {
            self.out.extend_from_slice(br#""resultType":"complete","#);
        }
        self.out
            .extend_from_slice(br#""content":[{"type":"text","text":"#);
        text(self.out);
        self.out.extend_from_slice(b"}]");
        match data {
            Some(data) if self.version >= Version::Structured => {
                self.out.extend_from_slice(br#","structuredContent":"#);
                data(self.out);
            }
            Some(_) => {}
            None => self.out.extend_from_slice(br#","isError":true"#),
        }
        self.out.push(b'}');
    }

    /// A text, and the same as data for clients that know about it.
    fn text<T: Serialize>(&mut self, text: &str, data: impl FnOnce() -> T) {
        let data = |out: &mut Vec<u8>| write_json(out, &data());
        self.write(|out| write_json(out, text), Some(data));
    }

    fn error(&mut self, problem: &str) {
        self.write(|out| write_json(out, problem), None::<fn(&mut Vec<u8>)>);
    }

    fn unknown(&mut self, which: &Which<'_>) {
        self.error(&UnknownSkill::from(which.wanted()).to_string());
    }
}
