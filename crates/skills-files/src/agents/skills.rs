//! The skills of one `.3md` document: ids from names, links that the registry can follow.
//! Pure: parses a text and does no I/O.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use agent3md::{Agent, Document, Finding, ValidationReport, rewrite_links, slug, slugs};
use skills_core::{GeneratedSkillMd, Head, Origin, SkillId, SourceSkill, body_hash, check_body};

/// The skills of a document that is served.
#[derive(Debug)]
pub struct AgentSkills {
    /// The id of the agent.
    pub agent: SkillId,
    /// The identity, then the skills in the order of the document.
    pub skills: Vec<AgentSkill>,
    /// Why some skills are not served, one reason for each.
    pub skipped: Vec<String>,
    /// The warnings of the validator.
    pub warnings: Vec<String>,
}

/// One skill.
#[derive(Debug)]
pub struct AgentSkill {
    /// The entry of a listing.
    pub skill: SourceSkill,
    /// Its body.
    pub body: Arc<str>,
    generated: OnceLock<Option<GeneratedSkillMd>>,
}

impl AgentSkill {
    /// Its `SKILL.md` for clients of Agent Skills, if its id has a name. Computed on first use.
    pub fn generated(&self) -> Option<&GeneratedSkillMd> {
        let Self { skill, body, .. } = self;
        let generate = || GeneratedSkillMd::of(&skill.id, &skill.head, body, body);
        self.generated.get_or_init(generate).as_ref()
    }
}

/// The skill at a position.
struct Target<'a> {
    id: SkillId,
    name: &'a str,
}

impl AgentSkills {
    /// Parses a document; fails with the reason why it is not served.
    ///
    /// A document with errors is not served at all: a part of an agent would mislead.
    pub fn parse(text: &str, modified_at: &Arc<str>) -> Result<Self, String> {
        let document = Document::parse(text)
            .map_err(|error| format!("is not a 3md document: {error}; {}", error.hint()))?;
        let agent = Agent::load(&document).map_err(|error| format!("{error}; {}", error.hint()))?;
        let report = agent3md::validate_document(&document);
        if let Some(first) = report.errors().next() {
            return Err(error_reason(&report, first));
        }
        let id = agent_id(&agent.name)?;
        let mut skipped = Vec::new();
        let targets = targets(&agent, &id, &mut skipped);
        let mut skills = Vec::with_capacity(targets.len());
        let identity = &agent.identity;
        let planes = agent
            .skills()
            .map(|s| (s.z, s.body.as_str(), &s.triggers[..]));
        let planes = std::iter::once((identity.z, identity.body.as_str(), &[][..])).chain(planes);
        for (z, body, phrases) in planes {
            let Some(Target { id, name }) = targets.get(&key(z)) else {
                continue;
            };
            let body = rewrite_links(body, |link| {
                let target = targets.get(&key(link.z))?;
                Some(link_to(target, link.text))
            });
            if let Err(error) = check_body(&body) {
                skipped.push(format!("`{id}` is not served: {error}"));
                continue;
            }
            let mut head = Head::of(&body);
            head.set_default_title(name);
            let phrases = phrases.iter().map(|phrase| phrase.as_str().into());
            head.triggers = (phrases.len() > 0).then(|| phrases.collect());
            let skill = SourceSkill {
                id: id.clone(),
                bytes: body.len(),
                registered_at: Arc::clone(modified_at),
                origin: Origin::Agent3md,
                head,
                folder: None,
                body_hash: Some(body_hash(&body)),
            };
            let body = body.into();
            skills.push(AgentSkill {
                skill,
                body,
                generated: OnceLock::new(),
            });
        }
        let warnings = report.warnings().map(describe).collect();
        Ok(Self {
            agent: id,
            skills,
            skipped,
            warnings,
        })
    }
}

fn error_reason(report: &ValidationReport, first: &Finding) -> String {
    let more = match report.errors().count() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!(
        "has an error at {}{more}; `skills agent validate` explains it",
        describe(first)
    )
}

fn describe(finding: &Finding) -> String {
    let Finding {
        rule, message, at, ..
    } = finding;
    format!("{at}: [{}] {message}", rule.name())
}

fn agent_id(name: &str) -> Result<SkillId, String> {
    let id = slug(name).map_err(|error| error.to_string());
    let id = id.and_then(|slug| slug.parse::<SkillId>().map_err(|error| error.to_string()));
    id.map_err(|reason| format!("names its agent {name:?}, which cannot be an id: {reason}"))
}

/// The skill at each position; a name that cannot be an id adds to `skipped`.
fn targets<'a>(
    agent: &'a Agent,
    id: &SkillId,
    skipped: &mut Vec<String>,
) -> HashMap<u64, Target<'a>> {
    let skills: Vec<_> = agent.skills().collect();
    let named = slugs(skills.iter().map(|skill| skill.name.as_str()));
    let mut targets = HashMap::with_capacity(skills.len() + 1);
    let (name, agent_id) = (agent.name.as_str(), id.clone());
    targets.insert(key(agent.identity.z), Target { id: agent_id, name });
    for (at, slug) in named.entries {
        let (z, name) = (skills[at].z, skills[at].name.as_str());
        match format!("{id}/{slug}").parse::<SkillId>() {
            Ok(id) => {
                targets.insert(key(z), Target { id, name });
            }
            Err(error) => skipped.push(format!("the skill {name:?} is not served: {error}")),
        }
    }
    let unnamed = |(_, name, reason)| format!("the skill {name:?} is not served: {reason}");
    skipped.extend(named.skipped.into_iter().map(unnamed));
    targets
}

/// A position as a key: `0` and `-0` are the same position.
fn key(z: f64) -> u64 {
    (z + 0.0).to_bits()
}

/// A markdown link on one line; the text is escaped.
fn link_to(target: &Target<'_>, text: Option<&str>) -> String {
    let text = text.filter(|text| !text.trim().is_empty());
    let words: Vec<&str> = text.unwrap_or(target.name).split_whitespace().collect();
    let mut label = String::new();
    for c in words.join(" ").chars() {
        if matches!(c, '[' | ']' | '\\') {
            label.push('\\');
        }
        label.push(c);
    }
    format!("[{label}](iii://{})", target.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<AgentSkills, String> {
        AgentSkills::parse(text, &"2026-01-01T00:00:00Z".into())
    }

    const FRONT: &str = "---\n3md: 1.0\nagent: Dev Team\n---\n@plane z=0 kind=identity\nI am.\n";

    #[test]
    fn the_agent_and_its_skills_have_ids_titles_and_links() {
        let text = format!(
            "{FRONT}@plane z=1 label=\"Code Review\" triggers=review\n[[z=2]], [[z=0|me]], [[z=2|a\nb]].\n\
             @plane z=2 label=\"a [b]\" triggers=b\n# Title\n\nAbout it.\n"
        );
        let agent = parse(&text).unwrap();
        let shown: Vec<_> = agent
            .skills
            .iter()
            .map(|skill| {
                let Head { title, .. } = &skill.skill.head;
                (skill.skill.id.as_str(), title.as_deref().unwrap())
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("dev-team", "Dev Team"),
                ("dev-team/code-review", "Code Review"),
                ("dev-team/a-b", "Title")
            ]
        );
        assert_eq!(
            &*agent.skills[1].body,
            "[a \\[b\\]](iii://dev-team/a-b), [me](iii://dev-team), [a b](iii://dev-team/a-b)."
        );
        assert_eq!(agent.skills[1].skill.bytes, agent.skills[1].body.len());
    }

    #[test]
    fn a_skill_that_cannot_be_served_has_a_reason() {
        let text = format!(
            "{FRONT}@plane z=1 label=café triggers=a\nx\n@plane z=2 label=Same triggers=a\nx\n\
             @plane z=3 label=same triggers=a\nx [[z=1]]\n@plane z=4 label=empty triggers=a\n"
        );
        let agent = parse(&text).unwrap();
        assert_eq!(agent.skills.len(), 2);
        let skipped = agent.skipped.join("\n");
        for reason in [
            "the name has 'é'",
            "already that of the skill \"Same\"",
            "non-empty",
        ] {
            assert!(skipped.contains(reason), "{skipped}");
        }
    }

    #[test]
    fn a_document_with_errors_is_not_served_at_all() {
        let check = |text: &str, expected: &str| {
            let reason = parse(text).unwrap_err();
            assert!(reason.contains(expected), "for {text:?}: {reason}");
        };
        check("nothing", "is not a 3md document: 1:1: ");
        check("---\n3md: 1\n---\n", "no planes");
        let dead = format!("{FRONT}@plane z=1 label=a triggers=a\n[[z=9]] [[z=8]]\n");
        check(&dead, "has an error at 8:1: [dead-link]");
        check(&dead, "(and 1 more)");
        let named = |name: &str| FRONT.replace("Dev Team", name);
        check(
            &named("fn"),
            "names its agent \"fn\", which cannot be an id",
        );
        check(&named("skills"), "reserved");
        check(&named("日本"), "the name has '日'");
    }
}
