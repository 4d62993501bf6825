//! Triggers that would correct a miss and break no other case. Each is tried: the words of a
//! trigger also count as a field, so that it may change the order and the abstention of any request.

use std::collections::{BTreeMap, BTreeSet};

use agent3md::for_each_word;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::prompts::MCP_LIST;
use skills_api::skills::{INDEX, RESOURCES_LIST};
use skills_core::{Kind, PromptArgument, Routing, RoutingTrial, SCHEME, SkillId};
use skills_search::content_words;

use super::case::Case;
use super::{Outcome, PLACES};
use crate::cli::CliError;
use crate::cli::connection::Connection;
use crate::cli::read::original;

/// Words of a suggested trigger, tried in this order: two words say more than one, and match more
/// requests than three.
const WORDS: [usize; 3] = [2, 3, 1];
/// Phrases that are tried for one miss.
const PHRASES_MAX: usize = 24;
/// Requests that are routed for all suggestions: with 1,000 skills some seconds.
const ROUTED_MAX: usize = 50_000;

/// A trigger to add.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The skill that gets it.
    pub id: String,
    /// The phrase.
    pub trigger: String,
    /// The request that it corrects.
    pub text: String,
}

/// Triggers for the misses that a trigger can correct.
#[derive(Debug, Default)]
pub struct Suggestions {
    /// All of them together break no case.
    pub found: Vec<Suggestion>,
    /// Whether the search ended before all misses were tried.
    pub is_cut: bool,
}

/// Triggers for the misses of an evaluation.
pub async fn triggers(
    connection: &Connection,
    outcomes: &[Outcome],
) -> Result<Suggestions, CliError> {
    if !outcomes.iter().any(Outcome::is_miss) {
        return Ok(Suggestions::default());
    }
    let mut trial = copy(connection).await?;
    let cases: Vec<&Case> = outcomes.iter().map(|outcome| &outcome.case).collect();
    Ok(tried(&mut trial, &cases, ROUTED_MAX)?)
}

/// What the registry routes to, read through the connection and kept in memory: nothing is written.
async fn copy(connection: &Connection) -> Result<RoutingTrial, CliError> {
    #[derive(Deserialize)]
    struct Index {
        text: String,
    }
    #[derive(Deserialize)]
    struct Resources {
        resources: Vec<Resource>,
    }
    #[derive(Deserialize)]
    struct Resource {
        uri: String,
        name: String,
        description: Option<String>,
    }
    #[derive(Deserialize)]
    struct Prompts {
        prompts: Vec<Prompt>,
    }
    #[derive(Deserialize)]
    struct Prompt {
        name: String,
        description: String,
        #[serde(default)]
        arguments: Vec<PromptArgument>,
    }
    let mut trial = RoutingTrial::default();
    let prompts: Prompts = connection.call(&MCP_LIST, &json!({})).await?;
    for prompt in prompts.prompts {
        let name = prompt.name.parse()?;
        trial.add_prompt(name, &prompt.description, prompt.arguments)?;
    }
    // The whole index has a line for each skill that is routed to.
    let all = json!({ "budget_tokens": u32::MAX });
    let index: Index = connection.call(&INDEX, &all).await?;
    let listed: Resources = connection.call(&RESOURCES_LIST, &json!({})).await?;
    let listed = listed.resources.into_iter();
    let mut listed: BTreeMap<_, _> = listed.map(|one| (one.uri.clone(), one)).collect();
    for id in index.text.lines().filter_map(indexed) {
        let text = match original(connection, id.as_str()).await {
            Ok(content) => content.text()?,
            // Removed since the index was read.
            Err(error) if error.kind == Kind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let shown = listed.remove(&format!("{SCHEME}{id}"));
        let title = shown.as_ref().map(|shown| shown.name.as_str());
        // A skill without a title is named by its id.
        let title = title.filter(|title| *title != id.as_str());
        let description = shown
            .as_ref()
            .and_then(|shown| shown.description.as_deref());
        trial.add_skill(id.clone(), &text, title, description);
    }
    Ok(trial)
}

/// The id of a line of the index.
fn indexed(line: &str) -> Option<SkillId> {
    let (_, rest) = line.trim_start().strip_prefix("- [`")?.split_once("](")?;
    rest.strip_prefix(SCHEME)?.split(')').next()?.parse().ok()
}

/// What a case got.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Got {
    /// The first skill is expected, or abstaining is and there was no answer.
    is_right: bool,
    abstained: bool,
}

impl Got {
    fn of(case: &Case, routing: &Routing) -> Self {
        let first = routing.matches.first().or(routing.close.first());
        let is_right = match (&case.expected[..], first) {
            ([], _) => routing.abstained,
            (_, None) => false,
            (expected, Some(first)) => expected.iter().any(|id| **id == *first.id),
        };
        Self {
            is_right,
            abstained: routing.abstained,
        }
    }

    /// Whether a case that was right is wrong now, or is right without an answer.
    fn is_broken(self, now: Self) -> bool {
        self.is_right && (!now.is_right || (now.abstained && !self.abstained))
    }
}

/// The triggers that correct a miss when they are tried, each with all before it.
fn tried(
    trial: &mut RoutingTrial,
    cases: &[&Case],
    routed_max: usize,
) -> Result<Suggestions, skills_core::Error> {
    let words: Vec<BTreeSet<String>> = cases.iter().map(|case| words_of(&case.text)).collect();
    let mut routed = 0;
    let mut got = |trial: &RoutingTrial, case: &Case| {
        routed += 1;
        let routing = trial.route(&case.text, PLACES)?;
        Ok::<_, skills_core::Error>((Got::of(case, &routing), routed < routed_max))
    };
    let mut before = Vec::with_capacity(cases.len());
    for case in cases {
        before.push(got(trial, case)?.0);
    }
    let mut suggestions = Suggestions::default();
    for (number, case) in cases.iter().enumerate() {
        let ids = case
            .expected
            .iter()
            .filter_map(|id| id.parse::<SkillId>().ok());
        for (id, phrase) in ids
            .take(1)
            .flat_map(|id| phrases(&case.text).map(move |p| (id.clone(), p)))
        {
            if before[number].is_right {
                break;
            }
            // The trigger would win where another skill is right.
            let is_asked_for = |(at, case): (usize, &&Case)| {
                before[at].is_right
                    && !case
                        .expected
                        .iter()
                        .any(|expected| **expected == *id.as_str())
                    && phrase.iter().all(|word| words[at].contains(word))
            };
            if cases.iter().enumerate().any(is_asked_for) {
                continue;
            }
            let trigger = phrase.join(" ");
            let Some(old) = trial.add_trigger(&id, &trigger) else {
                break;
            };
            let mut after = before.clone();
            let mut is_good = true;
            // First the case itself, then those that have a word of the trigger: they are broken most.
            let shares = |at: usize| phrase.iter().any(|word| words[at].contains(word));
            let mut order: Vec<usize> = (0..cases.len()).collect();
            order.sort_by_key(|&at| (at != number, !shares(at)));
            for at in order {
                let (now, may_go_on) = got(trial, cases[at])?;
                after[at] = now;
                is_good = if at == number {
                    now.is_right && !now.abstained
                } else {
                    !before[at].is_broken(now)
                };
                if !may_go_on {
                    trial.set_triggers(&id, old);
                    suggestions.is_cut = true;
                    return Ok(suggestions);
                }
                if !is_good {
                    break;
                }
            }
            if is_good {
                before = after;
                suggestions.found.push(Suggestion {
                    id: id.to_string(),
                    trigger,
                    text: case.text.clone(),
                });
                break;
            }
            trial.set_triggers(&id, old);
        }
    }
    Ok(suggestions)
}

fn words_of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for_each_word(text, |word| {
        words.insert(word.to_owned());
    });
    words
}

/// Neighbouring words of a request that are not stop words, as phrases.
fn phrases(text: &str) -> impl Iterator<Item = Vec<String>> + use<> {
    let mut words: Vec<String> = Vec::new();
    for_each_word(text, |word| {
        if !content_words(word).is_empty() && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    });
    words.truncate(PHRASES_MAX);
    let of_size = move |size: usize| {
        let phrases = words.windows(size).map(<[String]>::to_vec);
        phrases.collect::<Vec<_>>()
    };
    WORDS.into_iter().flat_map(of_size).take(PHRASES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKILLS: [(&str, &str); 6] = [
        ("s0", "# list log\nshare a budget with a calendar."),
        ("s1", "# write budget\nmerge a backup with a meeting."),
        ("s2", "# check log\nrestore a report with a ticket."),
        ("s3", "# write flight\narchive a backup with a commit."),
        ("s4", "# share table\nrestore a mail with a report."),
        ("s5", "# restore branch\nsend a meeting with a invoice."),
    ];

    fn trial() -> RoutingTrial {
        let mut trial = RoutingTrial::default();
        for (id, text) in SKILLS {
            let (title, description) = text[2..].split_once('\n').unwrap();
            trial.add_skill(id.parse().unwrap(), text, Some(title), Some(description));
        }
        trial
    }

    fn case(text: &str, expected: &[&str]) -> Case {
        let expected = expected.iter().map(|&id| id.to_owned()).collect();
        Case {
            text: text.to_owned(),
            expected,
        }
    }

    fn right(trial: &RoutingTrial, cases: &[&Case]) -> Vec<bool> {
        let got = |case: &&Case| {
            let routing = trial.route(&case.text, PLACES).unwrap();
            Got::of(case, &routing).is_right
        };
        cases.iter().map(got).collect()
    }

    #[test]
    fn a_trigger_that_changes_another_case_is_not_suggested() {
        let cases = [
            case("share the hotel and backup", &["s2"]),
            case("please share log branch", &["s0"]),
        ];
        let cases: Vec<&Case> = cases.iter().collect();
        let mut plain = trial();
        assert_eq!(right(&plain, &cases), [false, true]);
        plain.add_trigger(&"s2".parse().unwrap(), "share hotel");
        assert_eq!(
            right(&plain, &cases),
            [true, false],
            "its words count as well"
        );
        let mut trial = trial();
        let found = tried(&mut trial, &cases, ROUTED_MAX).unwrap().found;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(right(&trial, &cases), [true, true], "{found:?}");
    }

    #[test]
    fn all_suggestions_together_break_no_case() {
        let words = [
            "share", "log", "backup", "report", "hotel", "budget", "branch", "mail",
        ];
        let mut random = 0x9E37_79B9_u32;
        let mut next = |end: usize| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) as usize % end
        };
        for _ in 0..30 {
            let cases: Vec<Case> = (0..8)
                .map(|_| {
                    let text = [0; 3].map(|_| words[next(words.len())]).join(" ");
                    match next(4) {
                        0 => case(&text, &[]),
                        _ => case(&text, &[SKILLS[next(SKILLS.len())].0]),
                    }
                })
                .collect();
            let cases: Vec<&Case> = cases.iter().collect();
            let mut trial = trial();
            let before = right(&trial, &cases);
            let found = tried(&mut trial, &cases, ROUTED_MAX).unwrap().found;
            let after = right(&trial, &cases);
            let gained = after
                .iter()
                .zip(&before)
                .filter(|(now, was)| **now && !**was);
            assert!(gained.count() >= found.len(), "{found:?}");
            assert!(
                before.iter().zip(&after).all(|(was, now)| !was || *now),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_search_that_is_too_long_ends_and_says_so() {
        let cases = [
            case("share the hotel and backup", &["s2"]),
            case("please share log branch", &["s0"]),
        ];
        let cases: Vec<&Case> = cases.iter().collect();
        let mut trial = trial();
        let cut = tried(&mut trial, &cases, 3).unwrap();
        assert!(cut.is_cut && cut.found.is_empty());
        assert_eq!(
            right(&trial, &cases),
            [false, true],
            "nothing is left of it"
        );
    }

    #[test]
    fn a_line_of_the_index_has_an_id() {
        let id = |line: &str| indexed(line).map(|id| id.to_string());
        assert_eq!(
            id("  - [`a/b`](iii://a/b) \u{2014} B").as_deref(),
            Some("a/b")
        );
        assert_eq!(id("- `a/`"), None);
        assert_eq!(id("# Skills"), None);
    }
}
