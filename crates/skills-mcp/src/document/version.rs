//! The version of the protocol that a client uses.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::json;

use crate::jsonrpc::{self, Members};

/// The member of `_meta` in which a request names its version.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// A version of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The version of agent-3md.
    V2024_11_05,
    /// Adds annotations to tools.
    V2025_03_26,
    /// Adds titles of tools and structured results.
    V2025_06_18,
    /// The last version that starts with `initialize`.
    V2025_11_25,
    /// Stateless: each request names its version.
    V2026_07_28,
}

impl Version {
    const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The name in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The names of all versions.
    pub fn names() -> [&'static str; 5] {
        Self::ALL.map(Self::as_str)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// The version that `initialize` agrees on: the requested one, or the newest one that has
    /// `initialize`.
    pub fn negotiate(requested: Option<&str>) -> Self {
        let Some(requested) = requested else {
            return Self::V2024_11_05;
        };
        Self::named(requested)
            .filter(|version| *version < Self::V2026_07_28)
            .unwrap_or(Self::V2025_11_25)
    }

    /// The version that a request names, if it names one.
    pub fn of_request(params: &Members<'_>) -> Result<Option<Self>, ErrorData> {
        let Some(meta) = params.get("_meta") else {
            return Ok(None);
        };
        let meta =
            Members::of(meta).ok_or_else(|| jsonrpc::invalid_params("_meta must be an object"))?;
        let Some(name) = meta.string(VERSION_KEY).transpose()? else {
            return Ok(None);
        };
        Self::named(&name).map(Some).ok_or_else(|| {
            ErrorData::new(
                ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
                format!("unsupported protocol version: {name}"),
                Some(json!({ "requested": name, "supported": Self::names() })),
            )
        })
    }
}
