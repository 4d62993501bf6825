//! A document that changes while it is served.

use skills_test_support::document::{SAMPLE, call};
use skills_test_support::files::replace;

use super::process::{folder, start};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

#[tokio::test]
async fn an_edit_is_served_and_notified_and_an_invalid_one_is_not() {
    let (folder, path) = folder(SAMPLE);
    let mut server = start(&path, &[]);
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
    server.write_line(hello).await;
    server.stdout_line().await;
    server.wait_for_log("5 skills from").await;

    // As editors save: another file is renamed.
    replace(
        folder.path(),
        "agent.3md",
        SAMPLE.replace("Half.", "Whole."),
    );
    assert_eq!(server.stdout_line().await, CHANGED);
    server.wait_for_log("5 skills from").await;
    server.write_line(&call("get_skill", r#"{"z":1.5}"#)).await;
    assert!(server.stdout_line().await.contains("Whole."));

    // Invalid: logged, without a notification; the last valid document stays.
    replace(folder.path(), "agent.3md", "---\nno end");
    server
        .wait_for_log("still serving the last good document")
        .await;
    server.write_line(&call("get_skill", r#"{"z":1.5}"#)).await;
    assert!(server.stdout_line().await.contains("Whole."));

    // Removed: the same.
    std::fs::remove_file(&path).unwrap();
    server.wait_for_log("cannot read").await;
    server.write_line(&call("get_skill", r#"{"z":1.5}"#)).await;
    assert!(server.stdout_line().await.contains("Whole."));

    // Written in place.
    std::fs::write(&path, SAMPLE.replace("Half.", "Again.")).unwrap();
    assert_eq!(server.stdout_line().await, CHANGED);
    server.write_line(&call("get_skill", r#"{"z":1.5}"#)).await;
    assert!(server.stdout_line().await.contains("Again."));
}

#[tokio::test]
async fn a_strict_server_keeps_the_last_document_without_errors() {
    let good = SAMPLE.replace("[[z=3]]", "nothing");
    let (folder, path) = folder(&good);
    let mut server = start(&path, &["--strict"]);
    server.wait_for_log("5 skills from").await;
    replace(folder.path(), "agent.3md", SAMPLE);
    server
        .wait_for_log("now has errors; still serving the last good document")
        .await;
    server.write_line(&call("get_skill", r#"{"z":3}"#)).await;
    assert!(server.stdout_line().await.contains("Back to nothing."));
}
