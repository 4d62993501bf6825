//! Requests of the first protocol version.

use skills_test_support::document::{SAMPLE, call};

use super::check::{check, check_error, check_refused, check_text, respond, session};

#[test]
fn the_result_of_initialize_is_byte_for_byte_the_documented_one() {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":"agent-3md:dev","version":"0.1.0"}}}"#;
    for params in [
        "",
        r#","params":{}"#,
        r#","params":null"#,
        r#","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}"#,
    ] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize"{params}}}"#);
        check(&line, initialize);
    }
    check(
        r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"p","result":{}}"#,
    );
}

#[test]
fn the_four_tools_have_closed_schemas() {
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let list = respond(&mut session(SAMPLE), line);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let tools = list["result"]["tools"].as_array().unwrap();
    let shown: Vec<_> = tools
        .iter()
        .map(|tool| {
            let schema = &tool["inputSchema"];
            assert_eq!(schema["additionalProperties"], false);
            assert_eq!(
                tool.as_object().unwrap().len(),
                3,
                "name, description, inputSchema"
            );
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            format!("{}{}", tool["name"], serde_json::Value::from(required))
        })
        .collect();
    let expected = [
        r#""list_skills"[]"#,
        r#""route_skill"["text"]"#,
        r#""get_skill"["name"]"#,
        r#""resolve_skill"["name"]"#,
    ];
    assert_eq!(shown, expected);
}

#[test]
fn the_tools_return_the_documented_texts() {
    check_text(
        "route_skill",
        r#"{"text":"Search the CODE, find it"}"#,
        "search  (score 2; matched: find code, search the code)",
    );
    check_text("route_skill", r#"{"text":"dance"}"#, "no skill matched");
    check_text(
        "get_skill",
        r#"{"name":"read"}"#,
        "Read it, \"quoted\" and all: é.",
    );
    check_text(
        "resolve_skill",
        r#"{"name":"search"}"#,
        "### search\nLook for it.\n\nThen [[z=2|read]] it.\n\n### read\nRead it, \"quoted\" and all: é.",
    );
    check_text(
        "resolve_skill",
        r#"{"name":"loop"}"#,
        "### loop\nBack to [[z=3]].",
    );
    check_error("get_skill", r#"{"name":"nope"}"#, "unknown skill: nope");
    check_error(
        "resolve_skill",
        r#"{"name":"I am dev."}"#,
        "unknown skill: I am dev.",
    );
    let list = respond(&mut session(SAMPLE), &call("list_skills", "{}"));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let text = list["result"]["content"][0]["text"].as_str().unwrap();
    let first = "[\n  {\n    \"name\": \"search\",\n    \"z\": 1,\n    \"triggers\": [\n      \"find code\",\n      \"search the code\",\n      \"grep\"\n    ],\n    \"cost\": \"low\",\n    \"tool\": \"rg {pattern}\"\n  },\n";
    assert!(text.starts_with(first), "{text}");
    let bare = "  {\n    \"name\": \"loop\",\n    \"z\": 3,\n    \"triggers\": [],\n    \"cost\": null,\n    \"tool\": null\n  },\n";
    assert!(text.contains(bare), "{text}");
}

#[test]
fn errors_name_the_invalid_argument() {
    for value in [r#"["search"]"#, r#"[["search"]]"#] {
        let arguments = format!(r#"{{"name":{value}}}"#);
        check_error(
            "get_skill",
            &arguments,
            "argument name must be a string, not an array",
        );
    }
    for tool in ["get_skill", "resolve_skill"] {
        check_error(tool, "{}", "missing argument: name (a string)");
        check_error(tool, "null", "missing argument: name (a string)");
        check_error(
            tool,
            r#"{"name":null}"#,
            "argument name must be a string, not null",
        );
        check_error(
            tool,
            r#"{"name":true}"#,
            "argument name must be a string, not a boolean",
        );
        check_error(
            tool,
            r#"{"name":1}"#,
            "argument name must be a string, not a number",
        );
        let takes = format!("unknown argument: extra ({tool} takes name or z)");
        check_error(tool, r#"{"name":"search","extra":1}"#, &takes);
    }
    check_error("route_skill", "{}", "missing argument: text (a string)");
    check_error(
        "list_skills",
        r#"{"all":true}"#,
        "unknown argument: all (list_skills takes no arguments)",
    );
    for (arguments, kind) in [("[]", "an array"), ("\"x\"", "a string"), ("7", "a number")] {
        let problem = format!("arguments must be an object, not {kind}");
        check_error("list_skills", arguments, &problem);
    }
    let without_name = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    check_refused(
        without_name,
        "1",
        -32602,
        "invalid params: name is missing; it says which tool to call",
    );
    check_refused(&call("dance", "{}"), "1", -32602, "unknown tool: dance");
    check_refused(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#,
        "1",
        -32602,
        "invalid params: unknown cursor: the list is one page",
    );
}

#[test]
fn names_that_are_special_in_javascript_are_ordinary() {
    check_text("get_skill", r#"{"name":"constructor"}"#, "");
    check_text("get_skill", r#"{"name":"__proto__"}"#, "Half.");
    check_error(
        "get_skill",
        r#"{"name":"toString"}"#,
        "unknown skill: toString",
    );
    check_refused(
        &call("__proto__", "{}"),
        "1",
        -32602,
        "unknown tool: __proto__",
    );
}

#[test]
fn repeated_triggers_count_once_and_ties_are_ordered_by_position() {
    check_text(
        "route_skill",
        r#"{"text":"tie"}"#,
        "__proto__  (score 1; matched: tie)\nconstructor  (score 1; matched: tie)",
    );
    let twice = "---\n3md: 1\ntitle:\nagent: dev\n---\n@plane z=0 kind=identity\n@plane z=1 label=a\nold\n@plane z=2 label=a\nnew";
    let mut session = session(twice);
    assert!(respond(&mut session, &call("get_skill", r#"{"name":"a"}"#)).contains("new"));
    assert!(respond(&mut session, &call("get_skill", r#"{"z":1}"#)).contains("old"));
    let initialize = respond(
        &mut session,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
    );
    assert!(
        initialize.contains(r#""name":"agent-3md:dev""#),
        "an empty title is ignored: {initialize}"
    );
}

#[test]
fn accents_and_chinese_are_compared_literally() {
    let text = "---\n3md: 1\nagent: d\n---\n@plane z=0 kind=identity\n@plane z=1 label=a triggers=\"café, 搜索\"\nx";
    let mut session = session(text);
    let mut route = |text: &str| {
        respond(
            &mut session,
            &call("route_skill", &format!(r#"{{"text":"{text}"}}"#)),
        )
    };
    assert!(route("CAFÉ").contains("matched: café"));
    assert!(route("cafe\u{301}").contains("no skill matched"));
    assert!(route("搜索").contains("matched: 搜索"));
    assert!(route("搜索代码").contains("no skill matched"));
}

/// The position of the identity is not a skill.
#[test]
fn a_skill_is_found_by_its_position() {
    check_text("get_skill", r#"{"z":1.5}"#, "Half.");
    check_text(
        "resolve_skill",
        r#"{"z":3.0}"#,
        "### loop\nBack to [[z=3]].",
    );
    check_error("get_skill", r#"{"z":0}"#, "unknown skill: z=0");
    check_error("get_skill", r#"{"z":99}"#, "unknown skill: z=99");
    check_error(
        "get_skill",
        r#"{"z":"1"}"#,
        "argument z must be a number, not a string",
    );
    check_error(
        "get_skill",
        r#"{"z":1e999}"#,
        "argument z must be a number, not 1e999",
    );
    check_error(
        "get_skill",
        r#"{"z":1,"name":"read"}"#,
        "give either name or z, not both",
    );
}
