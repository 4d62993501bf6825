//! Later protocol versions: negotiation, richer results, notifications and streams.

use std::sync::Arc;

use agent3md::Agent;
use serde_json::{Value, json};
use skills_mcp::document::{ServedAgent, Session};
use skills_test_support::document::{SAMPLE, call};

use super::check::{respond, session};

fn initialized(version: &str) -> Session {
    let mut session = session(SAMPLE);
    let hello = result(&mut session, &initialize(version));
    assert_eq!(hello["protocolVersion"], version);
    session
}

fn initialize(version: &str) -> String {
    let params = json!({ "protocolVersion": version });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

fn result(session: &mut Session, line: &str) -> Value {
    let answer: Value = serde_json::from_str(&respond(session, line)).unwrap();
    assert!(answer.get("error").is_none(), "for {line}: {answer}");
    answer["result"].clone()
}

/// A request of 2026-07-28.
fn stateless(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params }).to_string()
}

fn replaced(session: &mut Session) -> Vec<Value> {
    let agent = Agent::parse(SAMPLE).unwrap();
    let mut out = Vec::new();
    session.replace(Arc::new(ServedAgent::new(agent)), &mut out);
    let out = String::from_utf8(out).unwrap();
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_version_is_negotiated() {
    for (asked, settled) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let mut session = session(SAMPLE);
        let hello = result(&mut session, &initialize(asked));
        assert_eq!(hello["protocolVersion"], settled, "for {asked:?}");
        let changes = settled != "2024-11-05";
        assert_eq!(hello["capabilities"]["tools"]["listChanged"], changes);
    }
    let wrong = respond(
        &mut session(SAMPLE),
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}"#,
    );
    let problem = "invalid params: protocolVersion must be a string, not a number";
    assert!(wrong.contains(problem), "{wrong}");
}

#[test]
fn later_versions_have_titles_schemas_annotations_and_data() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let tools = result(&mut initialized("2025-03-26"), list)["tools"].clone();
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert!(tools[0].get("outputSchema").is_none());

    let mut session = initialized("2025-06-18");
    let tools = result(&mut session, list)["tools"].clone();
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert!(tool["title"].is_string());
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    let mut data = |tool: &str, arguments: &str| {
        let result = result(&mut session, &call(tool, arguments));
        assert!(result["content"][0]["text"].is_string());
        result["structuredContent"].clone()
    };
    let skills = data("list_skills", "{}");
    assert_eq!(
        skills["skills"][1],
        json!({ "name": "read", "z": 2, "triggers": ["open file"], "cost": null, "tool": null })
    );
    assert_eq!(
        data("route_skill", r#"{"text":"grep"}"#),
        json!({ "matches": [{ "name": "search", "z": 1, "score": 1, "matched": ["grep"] }] })
    );
    assert_eq!(
        data("get_skill", r#"{"name":"__proto__"}"#),
        json!({ "name": "__proto__", "z": 1.5, "body": "Half." })
    );
    let chain = data("resolve_skill", r#"{"name":"search"}"#);
    assert_eq!(chain["skills"][1]["name"], "read");
    assert_eq!(data("get_skill", r#"{"name":"nope"}"#), Value::Null);
}

#[test]
fn a_changed_document_is_notified_where_it_was_advertised() {
    let mut old = initialized("2024-11-05");
    assert!(replaced(&mut old).is_empty());
    let mut new = initialized("2025-11-25");
    let notifications = replaced(&mut new);
    let expected = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    assert_eq!(notifications, [expected]);
}

#[test]
fn requests_of_2026_07_28_need_no_session() {
    let mut session = session(SAMPLE);
    let found = result(&mut session, &stateless("server/discover", json!({})));
    assert_eq!(found["supportedVersions"].as_array().unwrap().len(), 5);
    assert_eq!(found["resultType"], "complete");
    let info = &found["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "agent-3md:dev");
    let tools = result(&mut session, &stateless("tools/list", json!({})));
    assert_eq!(
        (&tools["resultType"], &tools["ttlMs"], &tools["cacheScope"]),
        (&json!("complete"), &json!(0), &json!("private"))
    );
    let params = json!({ "name": "get_skill", "arguments": { "name": "read" } });
    let got = result(&mut session, &stateless("tools/call", params));
    assert_eq!(got["resultType"], "complete");
    assert_eq!(got["structuredContent"]["z"], 2);
    // Removed in 2026-07-28.
    for gone in ["ping", "initialize"] {
        let refused = respond(&mut session, &stateless(gone, json!({})));
        assert!(refused.contains("-32601"), "{refused}");
    }
    let line = stateless("tools/list", json!({})).replace("2026-07-28", "2031-01-01");
    let refused: Value = serde_json::from_str(&respond(&mut session, &line)).unwrap();
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "2031-01-01");
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":1}}"#;
    let refused = respond(&mut session, line);
    assert!(refused.contains("_meta must be an object"), "{refused}");
}

#[test]
fn a_stream_of_changes_is_acknowledged_and_can_be_cancelled() {
    let mut session = session(SAMPLE);
    let listen = stateless(
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } }),
    );
    let acknowledged: Value = serde_json::from_str(&respond(&mut session, &listen)).unwrap();
    let stream = json!({ "io.modelcontextprotocol/subscriptionId": 5 });
    assert_eq!(
        acknowledged,
        json!({
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": { "notifications": { "toolsListChanged": true }, "_meta": stream },
        })
    );
    let again = respond(&mut session, &listen);
    assert!(again.contains("already listens"), "{again}");
    let notifications = replaced(&mut session);
    assert_eq!(notifications.len(), 1);
    assert_eq!(notifications[0]["params"]["_meta"], stream);
    let mut out = Vec::new();
    session.finish(&mut out);
    let ended: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(
        ended["result"],
        json!({ "resultType": "complete", "_meta": stream })
    );

    respond(&mut session, &listen);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    assert_eq!(respond(&mut session, cancel), "");
    assert!(replaced(&mut session).is_empty());
    // Only 2026-07-28 has streams, and they need a filter.
    let old = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}"#;
    assert!(respond(&mut session, old).contains("-32601"));
    let bare = respond(&mut session, &stateless("subscriptions/listen", json!({})));
    assert!(bare.contains("notifications must be an object"), "{bare}");
    let nothing = stateless("subscriptions/listen", json!({ "notifications": {} }));
    assert_eq!(
        respond(&mut session, &nothing).lines().count(),
        2,
        "acknowledged and ended"
    );
}
