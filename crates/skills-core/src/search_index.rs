//! The search index of a registry: which entries it has, and what a match is shown with.
//!
//! Nothing here waits or calls anything: [`registry::search`](crate::registry) brings the
//! entries. The index is never rebuilt: an entry that changed is replaced.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::Arc;

use skills_search::{Document, Group, Index, Ranking, Request};

use crate::limits::DESCRIPTION_MAX;
use crate::{Head, Origin, Prompt, Skill, SkillId, SourcePrompt, SourceSkill, front_matter};

/// The groups of skills, one bit for each.
pub(crate) const SKILLS: u32 = 0b0000_1111;
/// All groups.
pub(crate) const EVERYTHING: u32 = 0b1111_1111;

/// Prompts are in groups of their own.
const PROMPTS: Group = 4;

/// The group of the skills of an origin.
pub(crate) fn skill_group(origin: Origin) -> Group {
    match origin {
        Origin::State => 0,
        Origin::Fs => 1,
        Origin::Agent3md => 2,
    }
}

/// The group of the prompts of an origin.
pub(crate) fn prompt_group(origin: Origin) -> Group {
    PROMPTS + skill_group(origin)
}

/// The groups of an origin, one bit for each.
pub(crate) fn groups_of(origin: Origin) -> u32 {
    1 << skill_group(origin) | 1 << prompt_group(origin)
}

/// Whether a group is one of prompts.
pub(crate) fn is_prompt(group: Group) -> bool {
    group >= PROMPTS
}

/// What a match is shown with.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub title: Option<Arc<str>>,
    pub description: Option<Arc<str>>,
    pub triggers: Vec<Arc<str>>,
    /// Tells whether an entry of a source changed.
    stamp: u64,
    /// Of everything that is indexed.
    fingerprint: u64,
}

/// The entries of all origins.
#[derive(Default)]
pub(crate) struct SearchIndex {
    index: Index,
    entries: HashMap<(Group, Arc<str>), Entry>,
    fingerprint: u64,
    /// The last walk over the sources that was indexed.
    pub walk: u64,
    /// What it found; none while another one is indexed.
    pub applied: Option<Applied>,
}

/// What a walk over the sources found.
pub(crate) struct Applied {
    pub skills: Vec<SourceSkill>,
    pub prompts: Vec<SourcePrompt>,
}

/// Whether two texts are equal. The same text in memory is not read.
fn is_same(a: &str, b: &str) -> bool {
    std::ptr::eq(a, b) || a == b
}

fn is_same_skill(a: &SourceSkill, b: &SourceSkill) -> bool {
    let options = |a: &Option<Arc<str>>, b: &Option<Arc<str>>| match (a, b) {
        (Some(a), Some(b)) => is_same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    is_same(a.id.as_str(), b.id.as_str())
        && is_same(&a.registered_at, &b.registered_at)
        && (a.bytes, a.origin, a.body_hash) == (b.bytes, b.origin, b.body_hash)
        && a.head.visibility == b.head.visibility
        && options(&a.head.title, &b.head.title)
        && options(&a.head.description, &b.head.description)
        && a.head.triggers == b.head.triggers
}

fn is_same_prompt(a: &SourcePrompt, b: &SourcePrompt) -> bool {
    is_same(a.name.as_str(), b.name.as_str())
        && is_same(&a.registered_at, &b.registered_at)
        && is_same(&a.description, &b.description)
        && a.origin == b.origin
}

impl SearchIndex {
    pub(crate) fn rank(&self, request: &Request<'_>) -> Ranking {
        self.index.rank(request)
    }

    /// The word that the last word of a text is the beginning of.
    pub(crate) fn completion(&self, text: &str) -> Option<&str> {
        self.index.completion(text)
    }

    /// Whether the index has what a walk found. Sources keep what they parsed from a file while it
    /// does not change, so mostly addresses are compared, which takes far less time than the walk.
    pub(crate) fn has_applied(&self, skills: &[SourceSkill], prompts: &[SourcePrompt]) -> bool {
        let pairs = |(a, b)| is_same_skill(a, b);
        let prompt_pairs = |(a, b)| is_same_prompt(a, b);
        self.applied.as_ref().is_some_and(|applied| {
            applied.skills.len() == skills.len()
                && applied.prompts.len() == prompts.len()
                && applied.skills.iter().zip(skills).all(pairs)
                && applied.prompts.iter().zip(prompts).all(prompt_pairs)
        })
    }

    /// A number that is the same as long as the entries are.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub(crate) fn entry(&self, group: Group, id: &Arc<str>) -> Option<&Entry> {
        self.entries.get(&(group, Arc::clone(id)))
    }

    /// Registered skills are stored, or with `None` removed, in this order.
    pub(crate) fn set_skills<'a>(
        &mut self,
        changes: impl IntoIterator<Item = (&'a Arc<str>, Option<&'a Skill>)>,
    ) {
        let group = skill_group(Origin::State);
        let mut stored = Vec::new();
        for (key, skill) in changes {
            let Some(skill) = skill else {
                self.insert_all(&mem::take(&mut stored));
                self.remove(group, key);
                continue;
            };
            let (_, body) = front_matter::split(&skill.body);
            stored.push(Text {
                group,
                key: Arc::clone(key),
                head: skill.head(),
                body,
                stamp: 0,
            });
        }
        self.insert_all(&stored);
    }

    /// Skills of sources, with their bodies.
    pub(crate) fn set_source_skills<'a>(
        &mut self,
        skills: impl IntoIterator<Item = (&'a SourceSkill, &'a str)>,
    ) {
        let text = |(skill, body): (&'a SourceSkill, &'a str)| Text {
            group: skill_group(skill.origin),
            key: skill.id.shared(),
            head: &skill.head,
            body,
            stamp: stamp(skill),
        };
        self.insert_all(&skills.into_iter().map(text).collect::<Vec<_>>());
    }

    /// A registered prompt is stored, or with `None` removed.
    pub(crate) fn set_prompt(&mut self, key: &Arc<str>, prompt: Option<&Prompt>) {
        let group = prompt_group(Origin::State);
        let Some(prompt) = prompt else {
            return self.remove(group, key);
        };
        let arguments = prompt.arguments.iter();
        let arguments = arguments.map(|a| (&*a.name, a.description.as_deref()));
        self.insert_all(&[Text {
            group,
            key: Arc::clone(key),
            head: &prompt_head((*prompt.description).into()),
            body: &argument_text(arguments),
            stamp: 0,
        }]);
    }

    /// A prompt of a source.
    pub(crate) fn set_source_prompt(&mut self, prompt: &SourcePrompt) {
        let group = prompt_group(prompt.origin);
        let head = prompt_head(Arc::clone(&prompt.description));
        let arguments = prompt.arguments.iter();
        let arguments = arguments.map(|a| (&*a.argument.name, a.argument.description.as_deref()));
        self.insert_all(&[Text {
            group,
            key: prompt.name.shared(),
            head: &head,
            body: &argument_text(arguments),
            stamp: prompt_stamp(prompt),
        }]);
    }

    /// Whether a skill of a source has to be read again.
    pub(crate) fn has_changed(&self, skill: &SourceSkill) -> bool {
        let entry = self.entry(skill_group(skill.origin), &skill.id.shared());
        entry.is_none_or(|entry| entry.stamp != stamp(skill))
    }

    /// Whether a prompt of a source has to be indexed again.
    pub(crate) fn has_prompt_changed(&self, prompt: &SourcePrompt) -> bool {
        let entry = self.entry(prompt_group(prompt.origin), &prompt.name.shared());
        entry.is_none_or(|entry| entry.stamp != prompt_stamp(prompt))
    }

    /// The entries of sources that none of these keys has.
    pub(crate) fn gone(
        &self,
        is_listed: impl Fn(Group, &Arc<str>) -> bool,
    ) -> Vec<(Group, Arc<str>)> {
        let stored = [skill_group(Origin::State), prompt_group(Origin::State)];
        let of_sources = self
            .entries
            .keys()
            .filter(|(group, _)| !stored.contains(group));
        let gone = of_sources.filter(|(group, key)| !is_listed(*group, key));
        gone.cloned().collect()
    }

    pub(crate) fn remove(&mut self, group: Group, key: &Arc<str>) {
        if let Some(entry) = self.entries.remove(&(group, Arc::clone(key))) {
            self.fingerprint ^= entry.fingerprint;
            self.index.remove(group, key);
        }
    }

    /// Adds entries, or replaces those with their groups and keys: many at once take less time.
    fn insert_all(&mut self, texts: &[Text<'_>]) {
        let phrases: Vec<Vec<&str>> = texts.iter().map(Text::phrases).collect();
        let pairs = texts.iter().zip(&phrases);
        let documents: Vec<_> = pairs
            .map(|(text, phrases)| text.document(phrases))
            .collect();
        self.index.insert_all(&documents);
        for (text, document) in texts.iter().zip(&documents) {
            let entry = text.entry(document);
            let fingerprint = entry.fingerprint;
            let key = (text.group, Arc::clone(&text.key));
            let old = self.entries.insert(key, entry);
            self.fingerprint ^= fingerprint ^ old.map_or(0, |old| old.fingerprint);
        }
    }
}

/// What an entry is indexed by and shown with.
struct Text<'a> {
    group: Group,
    key: Arc<str>,
    head: &'a Head,
    body: &'a str,
    stamp: u64,
}

impl Text<'_> {
    fn triggers(&self) -> &[Arc<str>] {
        self.head.triggers.as_deref().unwrap_or_default()
    }

    fn phrases(&self) -> Vec<&str> {
        self.triggers().iter().map(|trigger| &**trigger).collect()
    }

    fn document<'a>(&'a self, phrases: &'a [&'a str]) -> Document<'a> {
        let shown = self.head.description.as_deref().unwrap_or_default();
        Document {
            group: self.group,
            id: &self.key,
            title: self.head.title.as_deref().unwrap_or_default(),
            description: whole_description(shown, self.body),
            triggers: phrases,
            body: self.body,
        }
    }

    fn entry(&self, document: &Document<'_>) -> Entry {
        let Document {
            group,
            id,
            title,
            description,
            triggers,
            body,
        } = document;
        let mut hasher = DefaultHasher::new();
        (group, id, title, description, triggers, body).hash(&mut hasher);
        Entry {
            title: self.head.title.clone(),
            description: self.head.description.clone(),
            triggers: self.triggers().to_vec(),
            stamp: self.stamp,
            fingerprint: hasher.finish(),
        }
    }
}

fn prompt_head(description: Arc<str>) -> Head {
    Head {
        description: Some(description),
        ..Head::default()
    }
}

fn argument_text<'a>(arguments: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let lines = arguments.map(|(name, about)| format!("{name}: {}", about.unwrap_or_default()));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first paragraph in full, if the description is its beginning.
fn whole_description<'a>(shown: &'a str, body: &'a str) -> &'a str {
    let is_cut = shown.ends_with("...") && shown.chars().count() == DESCRIPTION_MAX + 3;
    if !is_cut {
        return shown;
    }
    let mut start = None;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let is_text = !line.trim().is_empty() && !line.starts_with('#');
        match start {
            None if is_text => start = Some(at),
            Some(start) if !is_text => return &body[start..at],
            _ => {}
        }
        at += line.len();
    }
    start.map_or(shown, |start| &body[start..])
}

/// A number that changes with the text of a skill of a source.
pub(crate) fn stamp(skill: &SourceSkill) -> u64 {
    let SourceSkill {
        id,
        bytes,
        registered_at,
        origin,
        head,
        folder: _,
        body_hash,
    } = skill;
    let mut hasher = DefaultHasher::new();
    let id = SkillId::as_str(id);
    (id, bytes, registered_at, origin, head, body_hash).hash(&mut hasher);
    hasher.finish()
}

fn prompt_stamp(prompt: &SourcePrompt) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&prompt.description, &prompt.registered_at, prompt.origin).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_description_is_indexed_in_full() {
        let long = "word ".repeat(60);
        let body = format!("# Title\n\n{long}\n\nMore.");
        let shown = format!("{}...", &long[..DESCRIPTION_MAX]);
        assert_eq!(whole_description(&shown, &body).trim(), long.trim());
        assert_eq!(whole_description("Short.", &body), "Short.");
    }

    #[test]
    fn the_fingerprint_depends_on_the_entries_alone() {
        let skill = |id: &str, body: &str| Skill::new(id.parse().unwrap(), body, "t");
        let (a, b) = (skill("a", "# A"), skill("b", "# B"));
        let mut index = SearchIndex::default();
        index.set_skills([(&a.id.shared(), Some(&a))]);
        let one = index.fingerprint();
        index.set_skills([(&b.id.shared(), Some(&b))]);
        index.set_skills([(&b.id.shared(), Some(&skill("b", "# C")))]);
        assert_ne!(index.fingerprint(), one);
        index.set_skills([(&b.id.shared(), None)]);
        assert_eq!(index.fingerprint(), one);
        // In their order: stored, removed, stored.
        let key = b.id.shared();
        index.set_skills([(&key, Some(&b)), (&key, None), (&a.id.shared(), Some(&a))]);
        assert_eq!(index.fingerprint(), one);
    }
}
