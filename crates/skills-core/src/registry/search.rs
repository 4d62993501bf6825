//! Searching skills and prompts, and finding the skill for a request.

use std::borrow::Cow;
use std::sync::Arc;

use skills_search::{Field, Request};

use super::Registry;
use super::search_request::{
    asked_text, check_limit, check_request, cursor_fingerprint, parse_cursor,
};
use crate::limits::{DEFAULT_MATCHES, SHOWN_TRIGGERS_MAX};
use crate::markdown::shown_title;
use crate::search_index::{EVERYTHING, SKILLS, SearchIndex, groups_of, is_prompt};
use crate::{Error, Origin, ResourceUri, SkillId};

/// A match is an answer if its score is this share of the best one; others are close.
const ANSWER_SHARE: f32 = 0.2;

/// What to search for, and where.
#[derive(Clone, Debug, Default)]
pub struct Search<'a> {
    /// The words.
    pub text: &'a str,
    /// How many matches at most.
    pub limit: Option<usize>,
    /// How the ids begin.
    pub prefix: &'a str,
    /// Where the matches are stored.
    pub origin: Option<Origin>,
    /// The cursor of the page before.
    pub cursor: Option<&'a str>,
    /// Whether the last word may be the beginning of a word, because it is still typed.
    pub completes: bool,
}

/// A skill or prompt that a request matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The id of a skill or the name of a prompt.
    pub id: Arc<str>,
    /// The address of a skill.
    pub uri: Option<String>,
    /// Its title, cut after [`SHOWN_TITLE_MAX`](crate::limits::SHOWN_TITLE_MAX) characters, or its
    /// id.
    pub title: Arc<str>,
    /// Its description.
    pub description: Option<Arc<str>>,
    /// How likely it is what the request means, from 0 to 1.
    pub score: f32,
    /// The words of the request that counted.
    pub why: Vec<Reason>,
    /// The first [`SHOWN_TRIGGERS_MAX`] triggers that the request matches, each cut as a title.
    pub matched: Vec<Arc<str>>,
}

/// A word of a request that counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The word.
    pub word: String,
    /// Where it is: fields of the document, or its meaning.
    pub fields: Vec<&'static str>,
}

/// The matches of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// One page, best first.
    pub matches: Vec<Match>,
    /// How many there are on all pages.
    pub total: usize,
    /// The cursor of the next page, if there is one.
    pub cursor: Option<String>,
    /// What to do if nothing was found.
    pub advice: Option<String>,
}

/// The skills for a request.
#[derive(Clone, Debug, Default)]
pub struct Routing {
    /// The answers, best first. Empty if no skill is good enough.
    pub matches: Vec<Match>,
    /// Whether no skill is good enough.
    pub abstained: bool,
    /// Skills that are less likely, in order.
    pub close: Vec<Match>,
    /// What to do if no skill is good enough.
    pub advice: Option<String>,
}

impl Registry {
    /// The skills and prompts that a text matches, best first.
    pub async fn search(&self, search: &Search<'_>) -> Result<SearchResult, Error> {
        let found = self.search_uncounted(search).await?;
        self.usage.offered(skills_of(&found.matches));
        Ok(found)
    }

    /// The same as [`Self::search`] for a person, which is not a use.
    pub async fn search_uncounted(&self, search: &Search<'_>) -> Result<SearchResult, Error> {
        check_request(search.text)?;
        let limit = check_limit(search.limit, "use `cursor` for more matches")?;
        self.update_index().await?;
        let index = self.searcher.read();
        let fingerprint = cursor_fingerprint(search, index.fingerprint());
        let offset = match search.cursor {
            None => 0,
            Some(cursor) => parse_cursor(cursor, fingerprint)?,
        };
        let asked = asked_text(search.text);
        let completion = search.completes.then(|| index.completion(&asked));
        let text = completed(&asked, completion.flatten());
        let ranking = index.rank(&Request {
            text: &text,
            groups: search.origin.map_or(EVERYTHING, groups_of),
            prefix: search.prefix,
            offset,
            limit,
        });
        let matches: Vec<Match> = shown(&index, &ranking.matches);
        let next = offset + matches.len();
        let more = next < ranking.total && !matches.is_empty();
        Ok(SearchResult {
            advice: matches.is_empty().then(|| nothing_found(search)),
            matches,
            total: ranking.total,
            cursor: more.then(|| format!("{next}.{fingerprint:016x}")),
        })
    }

    /// The skills for a request, best first. Without a good one it abstains.
    pub async fn route(&self, request: &str, limit: Option<usize>) -> Result<Routing, Error> {
        let routing = self.route_uncounted(request, limit).await?;
        self.usage.offered(skills_of(&routing.matches));
        self.usage.routed(skills_of(&routing.matches).take(1));
        Ok(routing)
    }

    /// The same as [`Self::route`] for a test of the routing, which is not a use.
    pub async fn route_uncounted(
        &self,
        request: &str,
        limit: Option<usize>,
    ) -> Result<Routing, Error> {
        check_request(request)?;
        let hint = "`skills::search` has pages of as many";
        let limit = check_limit(limit.or(Some(DEFAULT_MATCHES / 2)), hint)?;
        self.update_index().await?;
        Ok(routing(&self.searcher.read(), request, limit))
    }
}

/// The skills of an index for a request.
pub(super) fn routing(index: &SearchIndex, request: &str, limit: usize) -> Routing {
    let ranking = index.rank(&Request {
        groups: SKILLS,
        limit,
        ..Request::new(&asked_text(request))
    });
    let mut matches = shown(index, &ranking.matches);
    if !ranking.is_relevant {
        let advice = Some(abstention_advice(&matches));
        return Routing {
            matches: Vec::new(),
            abstained: true,
            close: matches,
            advice,
        };
    }
    let least = matches
        .first()
        .map_or(0.0, |best| best.score * ANSWER_SHARE);
    let answers = matches.iter().take_while(|found| found.score >= least);
    let close = matches.split_off(answers.count());
    Routing {
        matches,
        abstained: false,
        close,
        advice: None,
    }
}

/// A text with its last word completed.
fn completed<'a>(text: &'a str, completion: Option<&str>) -> Cow<'a, str> {
    match completion {
        None => text.into(),
        Some(word) => {
            let is_part = |c: char| c.is_alphanumeric();
            format!("{}{word}", text.trim_end_matches(is_part)).into()
        }
    }
}

/// The ids of the skills among matches.
fn skills_of(matches: &[Match]) -> impl Iterator<Item = &Arc<str>> {
    let skills = matches.iter().filter(|found| found.uri.is_some());
    skills.map(|found| &found.id)
}

fn shown(index: &SearchIndex, found: &[skills_search::Match]) -> Vec<Match> {
    let shown = |found: &skills_search::Match| {
        let entry = index.entry(found.group, &found.id)?;
        let triggers = found.triggers.iter();
        let reason = |reason: &skills_search::Reason| Reason {
            word: reason.word.clone(),
            fields: reason.fields.iter().map(Field::as_str).collect(),
        };
        Some(Match {
            id: Arc::clone(&found.id),
            uri: (!is_prompt(found.group))
                .then(|| address(&found.id))
                .flatten(),
            title: entry
                .title
                .as_ref()
                .map_or_else(|| Arc::clone(&found.id), short),
            description: entry.description.clone(),
            score: found.score,
            why: found.why.iter().map(reason).collect(),
            matched: triggers
                .filter_map(|&at| entry.triggers.get(at).map(short))
                .take(SHOWN_TRIGGERS_MAX)
                .collect(),
        })
    };
    found.iter().filter_map(shown).collect()
}

/// The text, not copied unless it is cut.
fn short(text: &Arc<str>) -> Arc<str> {
    match shown_title(text) {
        Cow::Borrowed(_) => Arc::clone(text),
        Cow::Owned(cut) => cut.into(),
    }
}

fn address(id: &str) -> Option<String> {
    let id: SkillId = id.parse().ok()?;
    Some(ResourceUri::Skill(id).to_string())
}

fn nothing_found(search: &Search<'_>) -> String {
    let wider = match (search.prefix.is_empty(), search.origin) {
        (true, None) => "",
        (false, None) => " or without `prefix`",
        (true, Some(_)) => " or without `origin`",
        (false, Some(_)) => " or without `prefix` and `origin`",
    };
    format!("nothing matches; search with other words{wider}, or list all skills with skill__list")
}

/// What to do when no skill is good enough: where the nearest ones are.
fn abstention_advice(close: &[Match]) -> String {
    let folder = |found: &Match| {
        found
            .id
            .split_once('/')
            .map(|(folder, _)| folder.to_owned())
    };
    let first = close.first().and_then(folder);
    let agree = |folder: &String| close.iter().take(3).filter(|m| starts(m, folder)).count() >= 2;
    match first.filter(agree) {
        Some(folder) => format!(
            "no skill clearly serves this request; read one of `close` if it fits, or list \
             the folder with skill__list {{\"prefix\": \"{folder}/\"}}"
        ),
        None if close.is_empty() => {
            "no skill has to do with this request; skill__list lists what there is".into()
        }
        None => {
            "no skill clearly serves this request; read one of `close` if it fits, or list all \
                 skills with skill__list"
                .into()
        }
    }
}

fn starts(found: &Match, folder: &str) -> bool {
    found
        .id
        .strip_prefix(folder)
        .is_some_and(|rest| rest.starts_with('/'))
}
