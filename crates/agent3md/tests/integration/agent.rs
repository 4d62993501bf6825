//! A document read as an agent: identity, names, routing, getting, resolving.

use agent3md::{Agent, LoadError, SkillSelector, SlugError, js_number, slugs};

fn agent(planes: &str) -> Agent {
    Agent::parse(&format!("---\n3md: 1\nagent: dev\n---\n{planes}"))
        .expect("the planes are an agent")
}

/// The identity's z, then each skill as `name@z`.
#[track_caller]
fn check(planes: &str, expected: &str) {
    let agent = agent(planes);
    let skills = agent
        .skills()
        .map(|skill| format!(" {}@{}", skill.name, js_number(skill.z)));
    let got = js_number(agent.identity.z) + &skills.collect::<String>();
    assert_eq!(got, expected, "for {planes:?}");
}

#[test]
fn the_identity_is_the_marked_or_the_first_plane() {
    check("@plane z=5\n@plane z=1", "5 skill-1@1");
    check("@plane z=5\n@plane z=1 kind=identity", "1 skill-5@5");
    check(
        "@plane z=5 kind=Identity\n@plane z=1 kind=identity",
        "1 skill-5@5",
    );
    check(
        "@plane z=2 kind=identity\n@plane z=1 kind=identity label=b",
        "2 b@1",
    );
    check("just text", "0");
}

#[test]
fn positions_are_not_rounded() {
    check(
        "@plane z=0 kind=identity\n@plane z=0.5\n@plane z=1\n@plane z=1.5",
        "0 skill-0.5@0.5 skill-1@1 skill-1.5@1.5",
    );
}

#[test]
fn every_other_plane_is_a_skill() {
    check(
        "@plane z=0\n@plane z=1 kind=note label=a\n@plane z=2 kind=skill label=b",
        "0 a@1 b@2",
    );
}

#[test]
fn a_name_is_the_label_verbatim_or_derived_from_z() {
    check(
        "@plane z=0\n@plane z=1 label=\" a \"\n@plane z=2 label=\"\"",
        "0  a @1 @2",
    );
    check(
        "@plane z=0\n@plane z=4.50\n@plane z=-7",
        "0 skill-4.5@4.5 skill--7@-7",
    );
    check(
        "@plane z=1\n@plane z=1e21\n@plane z=1e-7\n@plane z=-0",
        "1 skill-1e+21@1e+21 skill-1e-7@1e-7 skill-0@0",
    );
    check(
        "@plane z=0\n@plane z=1 label=__proto__\n@plane z=2 label=constructor",
        "0 __proto__@1 constructor@2",
    );
}

#[test]
fn a_later_plane_replaces_an_earlier_one_of_the_same_name_in_the_list() {
    let planes =
        "@plane z=0\n@plane z=1 label=a\nold\n@plane z=2 label=b\n[[z=1]]\n@plane z=3 label=a\nnew";
    check(planes, "0 a@3 b@2");
    let agent = agent(planes);
    assert_eq!(agent.skills().len(), 2);
    assert_eq!(agent.get("a").unwrap().body, "new");
    assert_eq!(agent.get(1.0).unwrap().body, "old");
    let chain: Vec<_> = agent
        .resolve("b")
        .unwrap()
        .iter()
        .map(|skill| skill.z)
        .collect();
    assert_eq!(chain, [2.0, 1.0], "links still reach the earlier plane");
    check(
        "@plane z=0\n@plane z=4\n@plane z=5 label=skill-4",
        "0 skill-4@5",
    );
}

#[test]
fn the_attributes_of_a_skill() {
    let agent = agent(
        "@plane z=0\n@plane z=1 label=a triggers=\" x ,, \u{A0}y z\u{FEFF}, x\" cost=\"\" tool=\"  rg -n {a} \" inputs=\"a, b:Number?\" colour=red\n\
         @plane z=2 label=b tool=\" \" cost=low",
    );
    let a = agent.get("a").unwrap();
    assert_eq!(a.triggers, ["x", "y z", "x"]);
    assert_eq!(
        (a.cost.as_deref(), a.tool.as_deref(), a.binary()),
        (Some(""), Some("rg -n {a}"), Some("rg"))
    );
    assert_eq!(a.inputs.len(), 2);
    let b = agent.get("b").unwrap();
    assert_eq!(
        (b.cost.as_deref(), b.tool.as_deref(), b.binary()),
        (Some("low"), None, None)
    );
    assert!(b.triggers.is_empty() && b.inputs.is_empty());
}

/// The name, model, tools and persona of a front matter.
#[track_caller]
fn head(lines: &str, expected: &str) {
    let agent = Agent::parse(&format!("---\n3md: 1\n{lines}---\n@plane z=0\nI am."))
        .expect("the lines are front matter");
    let got = format!(
        "{} {} {:?} {:?}",
        agent.name, agent.model, agent.tools, agent.persona
    );
    assert_eq!(got, expected, "for {lines:?}");
    assert_eq!(agent.identity.body, "I am.");
}

#[test]
fn the_front_matter_describes_the_agent() {
    head("", r#"agent unknown [] """#);
    head("agent: dev\n", r#"dev unknown [] """#);
    head("title: T\nagent: dev\n", r#"T unknown [] """#);
    head("title:\nagent: dev\n", r#"dev unknown [] """#);
    head("title:\nagent:\n", r#"agent unknown [] """#);
    head("Agent: dev\n", r#"agent unknown [] """#);
    head(
        "model: m\ntools: rg, , git \npersona: calm\nother: x\n",
        r#"agent m ["rg", "git"] "calm""#,
    );
}

#[test]
fn a_document_without_planes_is_an_error() {
    let error = Agent::parse("---\n3md: 1\n---\n").unwrap_err();
    assert_eq!(error, LoadError::NoPlanes);
    assert_eq!(error.to_string(), "the document has no planes");
    assert!(error.hint().contains("@plane z=0 kind=identity"));
    assert_eq!(
        Agent::parse("x").unwrap_err().to_string(),
        "1:1: the document does not begin with a `---` line"
    );
}

/// Routes a text over skills with these triggers, numbered from 1, and formats `name:matched`.
#[track_caller]
fn route(triggers: &[&str], text: &str, expected: &str) {
    let planes: String = (1..)
        .zip(triggers)
        .map(|(z, t)| format!("@plane z={z} label=s{z} triggers=\"{t}\"\n"))
        .collect::<Vec<_>>()
        .concat();
    let agent = agent(&format!("@plane z=0\n{planes}"));
    let found = agent.route(text);
    let shown: Vec<_> = found
        .iter()
        .map(|m| format!("{}:{}", m.skill.name, m.matched.join("+")))
        .collect();
    assert_eq!(shown.join(" "), expected, "for {text:?} over {triggers:?}");
}

#[test]
fn a_trigger_matches_when_all_its_words_are_in_the_text() {
    route(&["find code"], "code, please FIND it", "s1:find code");
    route(&["find code"], "find it", "");
    route(&["find"], "finding", "");
    route(&["find-the_code"], "the code: find!", "s1:find-the_code");
    route(&["a a b"], "b a", "s1:a a b");
    route(&["!!!, , 😀"], "!!! 😀", "");
    route(&["find"], "", "");
}

#[test]
fn matches_are_sorted_by_score_then_by_position() {
    route(&["a", "a, b", "b"], "a b", "s2:a+b s1:a s3:b");
    route(&["b, a"], "a b", "s1:b+a");
    let agent = agent(
        "@plane z=0\n@plane z=9 label=x triggers=a\n@plane z=-2.5 label=y triggers=a\n@plane z=1 label=z triggers=a",
    );
    let names: Vec<_> = agent
        .route("a")
        .iter()
        .map(|m| m.skill.name.as_str())
        .collect();
    assert_eq!(names, ["y", "z", "x"]);
}

#[test]
fn a_repeated_phrase_counts_once() {
    route(
        &["tie, tie, Tie, TIE", "tie, knot"],
        "tie the knot",
        "s2:tie+knot s1:tie",
    );
    route(
        &["code review, Code-Review, review code"],
        "review code",
        "s1:code review+review code",
    );
}

#[test]
fn words_are_unicode_and_not_normalised() {
    route(&["café"], "CAFÉ", "s1:café");
    route(&["café"], "cafe\u{301}", "");
    route(&["cafe\u{301}"], "cafe", "s1:cafe\u{301}");
    route(&["搜索"], "搜索代码", "");
    route(&["搜索"], "请 搜索", "s1:搜索");
    route(&["ΟΔΟΣ"], "οδος", "s1:ΟΔΟΣ");
    route(&["हिन्दी"], "हिन्दी", "s1:हिन्दी");
    route(&["हिन्दी"], "द न ह", "s1:हिन्दी");
}

#[test]
fn a_skill_is_found_by_its_exact_name_or_its_position() {
    let agent = agent("@plane z=0 label=me kind=identity\n@plane z=1.5 label=Search\nbody");
    for (wanted, found) in [
        (SkillSelector::Name("Search"), true),
        (SkillSelector::Name("search"), false),
        (SkillSelector::Name("me"), false),
        (SkillSelector::Name(""), false),
        (SkillSelector::Name("toString"), false),
        (SkillSelector::Z(1.5), true),
        (SkillSelector::Z(0.0), false),
        (SkillSelector::Z(f64::NAN), false),
        (SkillSelector::Z(1.0), false),
    ] {
        assert_eq!(agent.get(wanted).is_some(), found, "{wanted:?}");
        assert_eq!(agent.resolve(wanted).is_some(), found, "{wanted:?}");
    }
}

/// Checks the chain of `start`.
#[track_caller]
fn resolve(bodies: &[&str], start: &str, expected: &str) {
    let planes: String = (1..)
        .zip(bodies)
        .map(|(z, b)| format!("@plane z={z} label=s{z}\n{b}\n"))
        .collect::<Vec<_>>()
        .concat();
    let agent = agent(&format!(
        "pre [[z=2]]\n@plane z=0 kind=identity\n[[z=1]]\n{planes}"
    ));
    let chain = agent.resolve(start).expect("the skill is there");
    let names: Vec<_> = chain.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names.join(" "), expected, "for {bodies:?}");
}

#[test]
fn dependencies_follow_the_skill_depth_first() {
    resolve(&["alone"], "s1", "s1");
    resolve(
        &["[[z=2]] [[z=3]]", "[[z=4]]", "[[z=4]]", ""],
        "s1",
        "s1 s2 s4 s3",
    );
    resolve(&["[[z=3]] [[z=2]] [[z=3]]", "", ""], "s1", "s1 s3 s2");
    resolve(&["[[z=2]]", "[[z=3]]", "[[z=1]]"], "s2", "s2 s3 s1");
    resolve(&["[[z=1]]"], "s1", "s1");
    resolve(&["[[z=99]] [[z=0]] [[z=2|x]]", "[[z=0]]"], "s1", "s1 s2");
    resolve(&["```\n[[z=002]]\n```", ""], "s1", "s1 s2");
    resolve(&["[[z=2.0]] [[z=+2]]", ""], "s1", "s1");
}

#[test]
fn names_without_a_slug_are_reported() {
    let agent = agent(
        "@plane z=0\n@plane z=1 label=\"Code Review\"\n@plane z=2 label=\"code review!\"\n@plane z=3 label=\"é\"",
    );
    let slugs = slugs(agent.skills().map(|skill| skill.name.as_str()));
    assert_eq!(slugs.entries, [(0, "code-review".to_owned())]);
    assert!(matches!(
        slugs.skipped[0],
        (1, "code review!", SlugError::Clash { .. })
    ));
    assert!(matches!(slugs.skipped[1], (2, "é", SlugError::Letter('é'))));
}
