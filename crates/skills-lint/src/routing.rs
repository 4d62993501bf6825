//! How requests find a skill: triggers and descriptions.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use skills_core::quote;
use skills_search::{Document, Index, Request, content_words};

use crate::check::CheckedSkill;
use crate::format::Place;
use crate::input::Kind;
use crate::limits::MAX_RANKED_SKILLS;
use crate::markdown::Markdown;
use crate::rules::routing as rules;

pub fn check(skills: &mut [CheckedSkill<'_>]) {
    let registered = skills.iter().filter(|skill| skill.skill.is_registered());
    let registered: HashSet<_> = registered
        .filter_map(|skill| skill.skill.id.clone())
        .collect();
    // A registered skill hides the file with its id: no request finds the file.
    let hidden: HashSet<usize> = (skills.iter().enumerate())
        .filter(|(_, CheckedSkill { skill, .. })| !skill.is_registered())
        .filter(|(_, skill)| (skill.skill.id.as_ref()).is_some_and(|id| registered.contains(id)))
        .map(|(at, _)| at)
        .collect();
    let mut described: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, skill) in skills.iter_mut().enumerate() {
        if !matches!(skill.skill.kind, Kind::Folder { .. } | Kind::Markdown) {
            continue;
        }
        let Some(Markdown { head, .. }) = &skill.document.markdown else {
            continue;
        };
        let place = Place::of(skill.document.text);
        let line = place.map_or(0..0, |place| place.key("triggers"));
        for trigger in head.triggers.iter().flat_map(|triggers| triggers.iter()) {
            if !content_words(trigger).is_empty() {
                continue;
            }
            let problem = match words(&trigger.to_lowercase()).next() {
                None => "has no word",
                Some(_) => "has stop words only",
            };
            let message = format!("the trigger {} {problem}", quote(trigger));
            skill
                .document
                .sink
                .add(rules::STOP_WORDS, line.clone(), message)
                .help("use words that only requests for this skill have");
        }
        if let Some(description) = &head.description {
            let lower = description.to_lowercase();
            let key = words(&lower).collect::<Vec<_>>().join(" ");
            if !key.is_empty() && !hidden.contains(&at) {
                described.entry(key).or_default().push(at);
            }
        }
    }
    let mut groups: Vec<_> = described
        .into_values()
        .filter(|same| same.len() > 1)
        .collect();
    groups.sort();
    let same: HashSet<usize> = groups.iter().flatten().copied().collect();
    let is_ranked = |at: &usize| !same.contains(at) && !hidden.contains(at);
    let ranked: Vec<_> = (0..skills.len()).filter(is_ranked).collect();
    rank(skills, &ranked);
    for same in groups {
        // The first is named by the others and names the second.
        for (nth, &at) in same.iter().enumerate() {
            let other = &skills[same[usize::from(nth == 0)]];
            let message = format!("the description is that of {}", other.document.file.shown);
            let place = description(skills[at].document.text);
            skills[at]
                .document
                .sink
                .add(rules::SAME_DESCRIPTION, place, message)
                .help("say in each what the other does not do, or remove one");
        }
    }
}

/// A skill must be among this many matches of its own words.
const REACHED_WITHIN: usize = 3;

/// The share of the words of the shorter text from which two skills are alike.
const ALIKE: (usize, usize) = (3, 4);

/// The fewest words of a text that is compared.
const LEAST_WORDS: usize = 4;

/// Searches for each skill by its own title and description.
fn rank(skills: &mut [CheckedSkill<'_>], ranked: &[usize]) {
    if ranked.len() > MAX_RANKED_SKILLS {
        return;
    }
    let mut entries: Vec<Entry<'_>> = ranked
        .iter()
        .filter_map(|&at| Entry::of(skills, at))
        .collect();
    // Two folders that are checked together may have the same id.
    let mut ids = HashSet::new();
    entries.retain(|entry| ids.insert(entry.id.clone()));
    let mut index = Index::default();
    let is_alone = entries.len() == 1;
    for entry in &entries {
        let triggers: Vec<&str> = entry.triggers.iter().flatten().map(|t| &**t).collect();
        index.insert(&Document {
            triggers: &triggers,
            id: &entry.id,
            title: &entry.title,
            description: &entry.description,
            // Without others to compare with, title and description decide.
            body: if is_alone { "" } else { entry.body },
            ..Document::default()
        });
    }
    let by_id: HashMap<&str, usize> = entries.iter().map(|e| &*e.id).zip(0..).collect();
    let mut pairs = HashSet::new();
    for (nth, entry) in entries.iter().enumerate() {
        let words = format!("{} {}", entry.title, entry.description);
        let matches = index.rank(&Request::new(&words)).matches;
        let own = matches.iter().position(|found| *found.id == *entry.id);
        let place = description(skills[entry.at].document.text);
        if own.is_none_or(|own| own >= REACHED_WITHIN) {
            let found = matches.iter().filter(|found| *found.id != *entry.id);
            let found: Vec<_> = found.take(REACHED_WITHIN).map(|found| &*found.id).collect();
            let message = match found.join(", ") {
                none if none.is_empty() => {
                    "its title and description have no word to search".into()
                }
                found => format!("its title and description find {} before it", quote(&found)),
            };
            let sink = &mut skills[entry.at].document.sink;
            sink.add(rules::UNREACHED, place.clone(), message)
                .help("use words in title and description that the others do not have");
        }
        let other = matches.iter().find(|found| *found.id != *entry.id);
        let other = other.and_then(|found| by_id.get(&*found.id).copied());
        let Some(other) = other.filter(|other| pairs.insert((nth.min(*other), nth.max(*other))))
        else {
            continue;
        };
        let (ours, theirs) = (entry.words(), entries[other].words());
        let shared: Vec<_> = ours.intersection(theirs).map(String::as_str).collect();
        let least = ours.len().min(theirs.len());
        if least >= LEAST_WORDS && shared.len() * ALIKE.1 >= least * ALIKE.0 {
            let shown = &skills[entries[other].at].document.file.shown;
            let message = format!(
                "a request can hardly tell it from {shown}: both have {}",
                quote(&shared.join(", "))
            );
            let sink = &mut skills[entry.at].document.sink;
            sink.add(rules::SIMILAR, place, message)
                .help("use different words in title and description, or join the skills");
        }
    }
}

/// What is searched of a skill.
struct Entry<'a> {
    at: usize,
    id: String,
    title: String,
    description: String,
    body: &'a str,
    triggers: Option<Vec<Arc<str>>>,
    /// Read once: a title may be long, and compared with those of all others.
    words: OnceCell<BTreeSet<String>>,
}

impl<'a> Entry<'a> {
    fn of(skills: &[CheckedSkill<'a>], at: usize) -> Option<Self> {
        let skill = &skills[at];
        if !matches!(skill.skill.kind, Kind::Folder { .. } | Kind::Markdown) {
            return None;
        }
        let Markdown { document, head, .. } = skill.document.markdown.as_ref()?;
        Some(Self {
            at,
            id: skill.skill.id.as_ref()?.to_string(),
            title: head.title.as_deref().unwrap_or_default().into(),
            description: head.description.as_deref()?.into(),
            body: document.body,
            triggers: head.triggers.as_ref().map(|triggers| triggers.to_vec()),
            words: OnceCell::new(),
        })
    }

    /// The words of title and description that say something.
    fn words(&self) -> &BTreeSet<String> {
        self.words.get_or_init(|| {
            let words = content_words(&format!("{} {}", self.title, self.description));
            words.into_iter().collect()
        })
    }
}

/// Where the description of a document is.
fn description(text: &str) -> Range<usize> {
    Place::of(text).map_or(0..0, |place| place.key("description"))
}

fn words(lowercase: &str) -> impl Iterator<Item = &str> {
    let words = lowercase.split(|c| !agent3md::is_letter_or_number(c));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use skills_core::LintSettings;

    use crate::{Collection, File, Kind, Skill, check};

    fn skill(id: &str, shown: &str, description: &str) -> Skill {
        let text = format!("# Title\n\n{description}\n");
        Skill {
            id: Some(id.parse().unwrap()),
            kind: Kind::Markdown,
            document: File {
                shown: shown.into(),
                ..File::new("a.md", &text)
            },
            bundled: Vec::new(),
        }
    }

    /// The places of findings about routing.
    fn found(skills: Vec<Skill>) -> Vec<String> {
        let collection = Collection {
            skills,
            ..Collection::default()
        };
        let findings = check(&collection, &LintSettings::default());
        let routing = findings.all.iter();
        let routing = routing.filter(|finding| finding.rule.code.starts_with('R'));
        routing
            .map(|finding| format!("{} {}", finding.file, finding.rule.code))
            .collect()
    }

    #[test]
    fn a_registered_skill_is_not_compared_with_the_file_that_it_hides() {
        let file = |id: &str, text| skill(id, &format!("{id}.md"), text);
        let registered = |id: &str, text| skill(id, &format!("iii://{id}"), text);
        let text = "Reads the numbers of PDF files.";
        assert_eq!(found(vec![file("a", text), registered("a", text)]), [""; 0]);
        assert_eq!(
            found(vec![
                file("a", text),
                registered("a", "Reads the numbers of all PDF files.")
            ]),
            [""; 0]
        );
        // With another skill it is.
        assert_eq!(
            found(vec![
                file("a", "Old."),
                file("b", text),
                registered("a", text)
            ]),
            ["b.md R002", "iii://a R002"]
        );
    }
}
