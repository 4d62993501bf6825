//! How requests find a skill: triggers and descriptions.

use std::collections::HashMap;
use std::ops::Range;

use skills_core::front_matter::Document;
use skills_core::{Head, quote};

use crate::check::CheckedSkill;
use crate::format::Place;
use crate::input::Kind;
use crate::rules::routing as rules;

/// Words that a request has whatever it is about.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "could", "do",
    "does", "for", "from", "get", "give", "go", "has", "have", "help", "how", "i", "if", "in",
    "into", "is", "it", "its", "let", "like", "make", "me", "my", "need", "not", "now", "of", "on",
    "or", "our", "out", "please", "should", "so", "some", "that", "the", "their", "them", "then",
    "there", "these", "they", "thing", "things", "this", "to", "up", "us", "use", "using", "want",
    "was", "we", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
    "your",
];

pub fn check(skills: &mut [CheckedSkill<'_>]) {
    let mut described: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, skill) in skills.iter_mut().enumerate() {
        if !matches!(skill.skill.kind, Kind::Folder { .. } | Kind::Markdown) {
            continue;
        }
        let document = Document::parse(&skill.document.text);
        let head = Head::of_document(&document);
        let place = Place::of(&skill.document.text);
        let line = |key: &str| place.as_ref().map_or(0..0, |place| place.key(key));
        for trigger in head.triggers.iter().flat_map(|triggers| triggers.iter()) {
            let lower = trigger.to_lowercase();
            let words: Vec<_> = words(&lower).collect();
            if words.iter().any(|word| !STOP_WORDS.contains(word)) {
                continue;
            }
            let problem = match words.len() {
                0 => "has no word",
                _ => "has stop words only",
            };
            let message = format!("the trigger {} {problem}", quote(trigger));
            skill
                .document
                .sink
                .add(rules::STOP_WORDS, line("triggers"), message)
                .help("use words that only requests for this skill have");
        }
        if let Some(description) = &head.description {
            let lower = description.to_lowercase();
            let key = words(&lower).collect::<Vec<_>>().join(" ");
            if !key.is_empty() {
                described.entry(key).or_default().push(at);
            }
        }
    }
    let mut groups: Vec<_> = described
        .into_values()
        .filter(|same| same.len() > 1)
        .collect();
    groups.sort();
    for same in groups {
        // The first is named by the others and names the second.
        for (nth, &at) in same.iter().enumerate() {
            let other = &skills[same[usize::from(nth == 0)]];
            let message = format!("the description is that of {}", other.document.file.shown);
            let place = description(&skills[at].document.text);
            skills[at]
                .document
                .sink
                .add(rules::SAME_DESCRIPTION, place, message)
                .help("say in each what the other does not do, or remove one");
        }
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
