//! Searching skills and prompts, and finding the skill for a request.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skills_core::{Error, Json, Match, Origin, Reason, Registry, Routing, Search, SearchResult};

use super::Operation;
use super::decode::{decode, encode, id_prefix};

/// `skills::search`.
pub const SEARCH: Operation = Operation::function::<SearchInput, SearchOutput<'static>>(
    "skills::search",
    "Find skills and prompts by words and by meaning, best first, page by page.",
    |registry, payload| Box::pin(async move { search(&registry, decode(&payload)?).await }),
)
.idempotent();

/// `skill::search`.
pub const SEARCH_TOOL: Operation = Operation::tool::<SearchInput, SearchOutput<'static>>(
    "skill::search",
    "Search skills",
    "Find skills and prompts by words and by meaning, best first.",
    |registry, payload| Box::pin(async move { search(&registry, decode(&payload)?).await }),
);

/// `skills::route`.
pub const ROUTE: Operation = Operation::function::<RouteInput, RouteOutput<'static>>(
    "skills::route",
    "Find the skills for a request, best first, with reasons; abstains if none serves it.",
    |registry, payload| Box::pin(async move { route(&registry, decode(&payload)?).await }),
)
.idempotent();

/// `skill::route`.
pub const ROUTE_TOOL: Operation = Operation::tool::<RouteInput, RouteOutput<'static>>(
    "skill::route",
    "Find the skill for a request",
    "Find the skill for a request: read the first of `matches`, or choose from `close`.",
    |registry, payload| Box::pin(async move { route(&registry, decode(&payload)?).await }),
);

#[derive(Deserialize, JsonSchema)]
struct SearchInput {
    /// Words, in any language.
    text: String,
    /// How many matches, 1 to 100; 10 without it.
    #[serde(default)]
    limit: Option<usize>,
    /// The beginning of the ids, such as `resend/`.
    #[serde(default)]
    prefix: Option<String>,
    /// `state`, `fs` or `3md`.
    #[serde(default)]
    origin: Option<String>,
    /// The `cursor` of the page before.
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct RouteInput {
    /// The request, in the user's words.
    text: String,
    /// How many skills, 1 to 100; 5 without it.
    #[serde(default)]
    limit: Option<usize>,
    /// Whether this is a test of the routing, which is not counted as a use.
    #[serde(default)]
    #[schemars(skip)]
    uncounted: bool,
}

#[derive(Serialize, JsonSchema)]
struct SearchOutput<'a> {
    /// One page, best first.
    matches: Vec<MatchEntry<'a>>,
    /// How many there are on all pages.
    total: usize,
    /// Whether nothing was found.
    abstained: bool,
    /// Always empty: a search lists every match.
    close: Vec<MatchEntry<'a>>,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
    /// What to do if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct RouteOutput<'a> {
    /// The answers, best first; empty if no skill is good enough.
    matches: Vec<MatchEntry<'a>>,
    /// Whether no skill is good enough.
    abstained: bool,
    /// Skills that are less likely, in order.
    close: Vec<MatchEntry<'a>>,
    /// What to do if no skill is good enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct MatchEntry<'a> {
    /// The id of a skill, or the name of a prompt.
    id: &'a str,
    /// The address of a skill; absent for a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    /// How likely it is the right one, 0 to 1.
    score: f64,
    /// The words that counted.
    why: Vec<ReasonEntry<'a>>,
    /// The trigger phrases that matched.
    matched: &'a [Arc<str>],
}

#[derive(Serialize, JsonSchema)]
struct ReasonEntry<'a> {
    word: &'a str,
    /// `id`, `title`, `description`, `triggers`, `headings`, `body` or `meaning`.
    fields: &'a [&'static str],
}

impl<'a> MatchEntry<'a> {
    fn of(found: &'a Match) -> Self {
        let reason = |Reason { word, fields }: &'a Reason| ReasonEntry { word, fields };
        Self {
            id: &found.id,
            uri: found.uri.as_deref(),
            title: &found.title,
            description: found.description.as_deref(),
            score: (f64::from(found.score) * 1000.0).round() / 1000.0,
            why: found.why.iter().map(reason).collect(),
            matched: &found.matched,
        }
    }

    fn all(found: &'a [Match]) -> Vec<Self> {
        found.iter().map(Self::of).collect()
    }
}

async fn search(registry: &Registry, input: SearchInput) -> Result<Json, Error> {
    let origin = input.origin.as_deref().map(parse_origin).transpose()?;
    let search = Search {
        text: &input.text,
        limit: input.limit,
        prefix: id_prefix(input.prefix.as_deref()),
        origin,
        cursor: input.cursor.as_deref(),
        completes: false,
    };
    let SearchResult {
        matches,
        total,
        cursor,
        advice,
    } = registry.search(&search).await?;
    encode(&SearchOutput {
        abstained: matches.is_empty(),
        matches: MatchEntry::all(&matches),
        total,
        close: Vec::new(),
        cursor: cursor.as_deref(),
        advice: advice.as_deref(),
    })
}

async fn route(registry: &Registry, input: RouteInput) -> Result<Json, Error> {
    let Routing {
        matches,
        abstained,
        close,
        advice,
    } = if input.uncounted {
        registry.route_uncounted(&input.text, input.limit).await?
    } else {
        registry.route(&input.text, input.limit).await?
    };
    encode(&RouteOutput {
        matches: MatchEntry::all(&matches),
        abstained,
        close: MatchEntry::all(&close),
        advice: advice.as_deref(),
    })
}

fn parse_origin(name: &str) -> Result<Origin, Error> {
    let known = [Origin::State, Origin::Fs, Origin::Agent3md];
    let found = known.into_iter().find(|origin| origin.as_str() == name);
    found.ok_or_else(|| {
        let problem = format!("{name:?} is none; use `state`, `fs` or `3md`");
        Error::invalid("origin", problem)
    })
}
