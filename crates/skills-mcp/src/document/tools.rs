//! The four tools, and the result of `tools/list` for each version of the protocol.

use std::fmt::Write;
use std::sync::OnceLock;

use super::version::Version;

/// One tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    List,
    Route,
    Get,
    Resolve,
}

const NO_INPUT: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
const TEXT_INPUT: &str = r#"{"type":"object","properties":{"text":{"type":"string","description":"The request, in the user's words."}},"required":["text"],"additionalProperties":false}"#;
const NAME_INPUT: &str = r#"{"type":"object","properties":{"name":{"type":"string","description":"The skill's name."}},"required":["name"],"additionalProperties":false}"#;
const NAME_OR_Z_INPUT: &str = r#"{"type":"object","properties":{"name":{"type":"string","description":"The skill's name."},"z":{"type":"number","description":"The skill's position, instead of its name."}},"additionalProperties":false}"#;

const SKILLS_OUTPUT: &str = r#"{"type":"object","properties":{"skills":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"z":{"type":"number"},"triggers":{"type":"array","items":{"type":"string"}},"cost":{"type":["string","null"]},"tool":{"type":["string","null"]}},"required":["name","z","triggers","cost","tool"]}}},"required":["skills"]}"#;
const MATCHES_OUTPUT: &str = r#"{"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"z":{"type":"number"},"score":{"type":"integer"},"matched":{"type":"array","items":{"type":"string"}}},"required":["name","z","score","matched"]}}},"required":["matches"]}"#;
const BODY_OUTPUT: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"z":{"type":"number"},"body":{"type":"string"}},"required":["name","z","body"]}"#;
const BODIES_OUTPUT: &str = r#"{"type":"object","properties":{"skills":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"z":{"type":"number"},"body":{"type":"string"}},"required":["name","z","body"]}}},"required":["skills"]}"#;

impl Tool {
    const ALL: [Self; 4] = [Self::List, Self::Route, Self::Get, Self::Resolve];

    /// The tool with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::List => "list_skills",
            Self::Route => "route_skill",
            Self::Get => "get_skill",
            Self::Resolve => "resolve_skill",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::List => "List skills",
            Self::Route => "Find the skill for a request",
            Self::Get => "Get a skill",
            Self::Resolve => "Get a skill and what it depends on",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::List => {
                "List the agent's skills without their instructions: name, z, triggers, cost, tool."
            }
            Self::Route => {
                "Rank the skills whose triggers match a request, best first, with the phrases that matched."
            }
            Self::Get => "Get the full instructions of one skill.",
            Self::Resolve => {
                "Get a skill's instructions followed by those of every skill it depends on."
            }
        }
    }

    const fn input(self, version: Version) -> &'static str {
        match self {
            Self::List => NO_INPUT,
            Self::Route => TEXT_INPUT,
            Self::Get | Self::Resolve if matches!(version, Version::V2024_11_05) => NAME_INPUT,
            Self::Get | Self::Resolve => NAME_OR_Z_INPUT,
        }
    }

    const fn output(self) -> &'static str {
        match self {
            Self::List => SKILLS_OUTPUT,
            Self::Route => MATCHES_OUTPUT,
            Self::Get => BODY_OUTPUT,
            Self::Resolve => BODIES_OUTPUT,
        }
    }

    /// The names of its arguments.
    pub const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::List => &[],
            Self::Route => &["text"],
            Self::Get | Self::Resolve => &["name", "z"],
        }
    }

    fn write(self, version: Version, to: &mut String) {
        let (name, title, description) = (self.name(), self.title(), self.description());
        // Writing to a string cannot fail, and no text in the table needs an escape.
        let _ = write!(to, r#"{{"name":"{name}""#);
        if version >= Version::V2025_06_18 {
            let _ = write!(to, r#","title":"{title}""#);
        }
        let input = self.input(version);
        let _ = write!(
            to,
            r#","description":"{description}","inputSchema":{input}"#
        );
        if version >= Version::V2025_06_18 {
            let _ = write!(to, r#","outputSchema":{}"#, self.output());
        }
        if version >= Version::V2025_03_26 {
            let _ = write!(
                to,
                r#","annotations":{{"title":"{title}","readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}"#
            );
        }
        to.push('}');
    }
}

/// The result of `tools/list`, made once per version.
pub fn list(version: Version) -> &'static str {
    static LISTS: [OnceLock<String>; 5] = [const { OnceLock::new() }; 5];
    LISTS[version as usize].get_or_init(|| list_result(version))
}

fn list_result(version: Version) -> String {
    let mut list = String::from(r#"{"tools":["#);
    for tool in Tool::ALL {
        if tool != Tool::List {
            list.push(',');
        }
        tool.write(version, &mut list);
    }
    list.push(']');
    if version == Version::V2026_07_28 {
        list.push_str(r#","resultType":"complete","ttlMs":0,"cacheScope":"private""#);
    }
    list.push('}');
    list
}
