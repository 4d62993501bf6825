//! The texts of the tools, byte for byte, and the JSON forms.

use agent3md::tool_text::{self, MatchHead, get_skill, list_skills, resolve_skill, route_skill};
use agent3md::{Agent, Document};

const SOURCE: &str = "---\n3md: 1.0\ntitle: dev\nmodel: small\ntools: rg\n---\nhello\n\n\
    @plane z=0 label=me kind=identity\nI am \"dev\".\n\n\
    @plane z=1 label=search triggers=\"search, find code\" tool=\"rg {a}\" inputs=a cost=low\nLook.\n\nSee [[z=2.0]] [[z=3|edit]].\n\n\
    @plane z=2.5 label=\"é\\\\\\\"\"\n\
    @plane z=3 label=edit triggers=\"code, CODE\" cost=\"\"\n  Indented.  \n\
    @plane z=1e21 x=1 y=-2 triggers=search\nFar.\n";

fn agent() -> Agent {
    Agent::parse(SOURCE).expect("the source is an agent")
}

#[test]
fn list_skills_is_pretty_json_in_a_fixed_order() {
    let expected = r#"[
  {
    "name": "search",
    "z": 1,
    "triggers": [
      "search",
      "find code"
    ],
    "cost": "low",
    "tool": "rg {a}"
  },
  {
    "name": "é\\\"",
    "z": 2.5,
    "triggers": [],
    "cost": null,
    "tool": null
  },
  {
    "name": "edit",
    "z": 3,
    "triggers": [
      "code",
      "CODE"
    ],
    "cost": "",
    "tool": null
  },
  {
    "name": "skill-1e+21",
    "z": 1e+21,
    "triggers": [
      "search"
    ],
    "cost": null,
    "tool": null
  }
]"#;
    assert_eq!(list_skills(&agent()), expected);
    assert_eq!(
        list_skills(&Agent::parse("---\n3md: 1\n---\nx").unwrap()),
        "[]"
    );
}

#[test]
fn strings_are_escaped_as_javascript_escapes_them() {
    let agent = Agent::parse(
        "---\n3md: 1\n---\n@plane z=0\n@plane z=1 label=\"\u{1}\u{8}\u{c}\r\u{7f}/\u{2028}😀<\"",
    )
    .unwrap();
    assert!(list_skills(&agent).contains("\"\\u0001\\b\\f\\r\u{7f}/\u{2028}😀<\""));
}

#[test]
fn route_skill_returns_a_line_for_each_match() {
    let check = |text: &str, expected: &str| {
        assert_eq!(route_skill(&agent(), text), expected, "for {text:?}");
    };
    check(
        "find the code",
        "search  (score 1; matched: find code)\nedit  (score 1; matched: code)",
    );
    check(
        "search, find code",
        "search  (score 2; matched: search, find code)\nedit  (score 1; matched: code)\nskill-1e+21  (score 1; matched: search)",
    );
    check("nothing here", "no skill matched");
    check("", "no skill matched");
}

#[test]
fn get_skill_returns_the_body_verbatim() {
    let agent = agent();
    let check = |name: &str, expected: Result<&str, &str>| {
        let got = get_skill(&agent, name).map_err(|error| error.to_string());
        assert_eq!(got, expected.map_err(str::to_owned), "for {name:?}");
    };
    check("edit", Ok("  Indented.  "));
    check("é\\\"", Ok(""));
    check("Edit", Err("unknown skill: Edit"));
    check("me", Err("unknown skill: me"));
    check("", Err("unknown skill: "));
    check("__proto__", Err("unknown skill: __proto__"));
    assert_eq!(get_skill(&agent, 1e21).unwrap(), "Far.");
    assert_eq!(
        get_skill(&agent, 4.5).unwrap_err().to_string(),
        "unknown skill: z=4.5"
    );
}

#[test]
fn resolve_skill_returns_a_block_for_each_skill() {
    let agent = agent();
    let expected = "### search\nLook.\n\nSee [[z=2.0]] [[z=3|edit]].\n\n### edit\n  Indented.  ";
    assert_eq!(resolve_skill(&agent, "search").unwrap(), expected);
    assert_eq!(
        resolve_skill(&agent, 3.0).unwrap(),
        "### edit\n  Indented.  "
    );
    assert_eq!(resolve_skill(&agent, "é\\\"").unwrap(), "### é\\\"\n");
    assert_eq!(
        resolve_skill(&agent, "x").unwrap_err().to_string(),
        "unknown skill: x"
    );
}

#[test]
fn the_server_has_the_name_of_the_agent() {
    assert_eq!(tool_text::server_name(&agent()), "agent-3md:dev");
    assert_eq!(
        tool_text::loaded_line(&agent(), "/a/b.3md"),
        "[agent-3md mcp] dev: 4 skills from /a/b.3md"
    );
}

#[test]
fn matches_are_available_as_data() {
    let agent = agent();
    let heads: Vec<MatchHead<'_>> = agent
        .route("find code")
        .into_iter()
        .map(MatchHead::from)
        .collect();
    let json = serde_json::to_string(&heads).unwrap();
    assert_eq!(
        json,
        r#"[{"name":"search","z":1,"score":1,"matched":["find code"]},{"name":"edit","z":3,"score":1,"matched":["code"]}]"#
    );
}

#[test]
fn the_manifest_describes_the_agent_without_bodies() {
    let json = serde_json::to_value(agent().manifest()).unwrap();
    assert_eq!(json["name"], "dev");
    assert_eq!(json["model"], "small");
    assert_eq!(json["tools"][0], "rg");
    assert_eq!(json["persona"], "");
    assert_eq!(json["identity"], "I am \"dev\".");
    assert_eq!(json["skills"].as_array().unwrap().len(), 4);
    assert_eq!(json["skills"][0]["z"], 1);
    assert!(json["skills"][0].get("body").is_none());
}

#[test]
fn a_document_is_serialized_as_json() {
    let source = "---\n3md: 1\nb: 2\na: 1\n---\npre\n@plane z=1.50 x=2 k=v label=l\nbody";
    let json = serde_json::to_string(&Document::parse(source).unwrap()).unwrap();
    assert_eq!(
        json,
        r#"{"version":"1","axis":"layer","title":null,"metadata":{"a":"1","b":"2"},"preamble":"pre","planes":[{"z":1.5,"x":2,"y":null,"label":"l","attributes":{"k":"v"},"body":"body"}]}"#
    );
}
