//! For every text, nothing panics, and fast functions agree with slow and simple versions.

use std::collections::HashSet;

use agent3md::tool_text::{get_skill, list_skills, resolve_skill, route_skill};
use agent3md::{
    Agent, Document, Level, Link, Skill, Template, Values, links, rewrite_links, slug, validate,
};

/// Fails if something does not hold for `text`.
pub fn holds(text: &str) {
    links_are_those_of_the_grammar(text);
    commands_are_quoted(text);
    if let Ok(slug) = slug(text) {
        let allowed =
            |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        assert!(
            (1..=64).contains(&slug.len()) && slug.bytes().all(allowed),
            "{slug:?}"
        );
    }
    findings_are_in_the_text(text);
    let Ok(document) = Document::parse(text) else {
        return;
    };
    let Ok(agent) = Agent::load(&document) else {
        assert!(
            document.planes.is_empty(),
            "only a document without planes is refused"
        );
        return;
    };
    let listed: serde_json::Value = serde_json::from_str(&list_skills(&agent)).expect("it is JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(agent.skills().len()));
    serde_json::to_string(&document).expect("it is serializable");
    serde_json::to_string(&agent.manifest()).expect("it is serializable");
    routes_are_those_of_the_definition(&agent, text);
    for skill in agent.skills().take(16) {
        skill_can_be_had(&agent, skill);
    }
}

fn findings_are_in_the_text(text: &str) {
    let report = validate(text);
    let levels: Vec<_> = report
        .findings
        .iter()
        .map(|f| f.rule.level() == Level::Warning)
        .collect();
    assert!(levels.is_sorted(), "errors come first");
    for finding in &report.findings {
        assert!(
            text.get(finding.at.bytes.clone()).is_some(),
            "{finding:?} lies in {text:?}"
        );
        assert!(finding.at.line >= 1 && finding.at.column >= 1);
        assert!(!finding.message.contains('\n'), "{finding:?} is one line");
    }
    report.text("x.3md");
}

fn skill_can_be_had(agent: &Agent, skill: &Skill) {
    assert_eq!(agent.get(skill.name.as_str()), Some(skill));
    assert_eq!(agent.get(skill.z), Some(skill));
    assert_eq!(get_skill(agent, skill.z), Ok(skill.body.as_str()));
    let chain = agent.resolve(skill.name.as_str()).expect("it is listed");
    assert_eq!(chain[0], skill);
    let places: HashSet<u64> = chain.iter().map(|skill| skill.z.to_bits()).collect();
    assert_eq!(places.len(), chain.len(), "each plane occurs once");
    resolve_skill(agent, skill.name.as_str()).expect("it is listed");
    for trigger in &skill.triggers {
        let found = agent.route(trigger);
        let words = words(trigger);
        assert_eq!(
            found.iter().any(|m| m.skill == skill),
            !words.is_empty(),
            "{trigger:?}"
        );
    }
    if let Some(Ok(line)) = skill.command(&Values::new()) {
        assert_eq!(Some(line), skill.tool, "nothing to fill");
    }
}

fn routes_are_those_of_the_definition(agent: &Agent, text: &str) {
    let asked: HashSet<String> = words(text).into_iter().collect();
    let mut expected: Vec<(usize, f64, Vec<&str>)> = Vec::new();
    for skill in agent.skills() {
        let mut phrases = HashSet::new();
        let mut matched = Vec::new();
        for trigger in &skill.triggers {
            let words = words(trigger);
            let all = !words.is_empty() && words.iter().all(|word| asked.contains(word));
            if all && phrases.insert(words) {
                matched.push(trigger.as_str());
            }
        }
        if !matched.is_empty() {
            expected.push((matched.len(), skill.z, matched));
        }
    }
    expected.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
    let got: Vec<_> = agent
        .route(text)
        .into_iter()
        .map(|m| (m.matched.len(), m.skill.z, m.matched))
        .collect();
    assert_eq!(got, expected, "for {text:?}");
    assert_eq!(
        route_skill(agent, text) == "no skill matched",
        expected.is_empty()
    );
}

/// The words of a text, by definition.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    text.split(|c| !agent3md::is_letter_or_number(c))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn links_are_those_of_the_grammar(body: &str) {
    let found: Vec<Link<'_>> = links(body).collect();
    // Without the index: every trigger is compared with the request.
    if body.len() < 4096 {
        let mut expected = Vec::new();
        let mut at = 0;
        while at < body.len() {
            match link_length(&body[at..]) {
                Some(length) => {
                    expected.push(at..at + length);
                    at += length;
                }
                None => at += body[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        let got: Vec<_> = found.iter().map(|link| link.bytes.clone()).collect();
        assert_eq!(got, expected, "for {body:?}");
    }
    assert_eq!(
        rewrite_links(body, |link| Some(body[link.bytes.clone()].to_owned())),
        body
    );
    let cut = rewrite_links(body, |_| Some(String::new()));
    let removed: usize = found.iter().map(|link| link.bytes.len()).sum();
    assert_eq!(cut.len(), body.len() - removed);
}

/// The length of the link at the beginning of a text.
fn link_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("[[z=")?;
    let rest_after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest_after.len() == rest.len() {
        return None;
    }
    let end = match rest_after.strip_prefix('|') {
        Some(label) => &label[label.find(']')?..],
        None => rest_after,
    };
    Some(text.len() - end.strip_prefix("]]")?.len())
}

fn commands_are_quoted(tool: &str) {
    let template = Template::parse(tool);
    let values = Values::from([("a".to_owned(), "it's".to_owned())]);
    let safe = template
        .placeholders()
        .iter()
        .all(|placeholder| placeholder.hazard.is_none());
    let line = template.line(&values);
    assert_eq!(line.is_ok(), safe, "for {tool:?}");
    let filled = template
        .placeholders()
        .iter()
        .filter(|placeholder| placeholder.name == "a")
        .count();
    if let Ok(line) = line {
        assert_eq!(
            line.len(),
            tool.len() + filled * (r"'it'\''s'".len() - "{a}".len())
        );
    }
    if let Ok(argv) = template.argv(&values) {
        assert!(safe && argv.len() <= tool.len());
    }
}
