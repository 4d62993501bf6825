//! Which protocol a client speaks, and what that changes in an answer.

use super::wire::{Members, Refusal};

/// Where a request of the newest protocol names its version.
const NAMED: &str = "io.modelcontextprotocol/protocolVersion";

/// A version of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 2024-11-05: the one the tools' answers were first written for.
    First,
    /// 2025-03-26: tools have annotations.
    Annotated,
    /// 2025-06-18: tools have titles and answer with data beside the text.
    Structured,
    /// 2025-11-25: the last one that starts with `initialize`.
    LastSession,
    /// 2026-07-28: every request stands alone.
    Stateless,
}

impl Version {
    const ALL: [Self; 5] = [
        Self::First,
        Self::Annotated,
        Self::Structured,
        Self::LastSession,
        Self::Stateless,
    ];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "2024-11-05",
            Self::Annotated => "2025-03-26",
            Self::Structured => "2025-06-18",
            Self::LastSession => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }

    /// All of them as a JSON array.
    pub fn list() -> String {
        let names = Self::ALL.map(|version| format!("\"{}\"", version.as_str()));
        format!("[{}]", names.join(","))
    }

    /// What `initialize` settles on: the version asked for, or the newest that is begun that way.
    pub fn negotiate(asked: Option<&str>) -> Self {
        let Some(asked) = asked else {
            return Self::First;
        };
        let known = Self::ALL.into_iter().find(|v| v.as_str() == asked);
        known
            .filter(|version| *version < Self::Stateless)
            .unwrap_or(Self::LastSession)
    }

    /// The version that a request names for itself, if it does.
    pub fn of_request(params: &Members<'_>) -> Result<Option<Self>, Refusal> {
        let Some(meta) = params.get("_meta") else {
            return Ok(None);
        };
        let meta = Members::of(meta).ok_or_else(|| Refusal::params("_meta must be an object"))?;
        let Some(named) = meta.string(NAMED).transpose()? else {
            return Ok(None);
        };
        let known = Self::ALL.into_iter().find(|v| v.as_str() == named);
        known.map(Some).ok_or_else(|| Refusal {
            code: -32022,
            message: format!("unsupported protocol version: {named}"),
            data: Some(format!(
                "{{\"requested\":{},\"supported\":{}}}",
                serde_json::Value::from(&*named),
                Self::list()
            )),
        })
    }
}
