//! The clock jumps: times of files and rows are far in the past or in the future.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;
use skills_test_support::engine::{Peer, next_event};
use skills_test_support::files::{replace, write};
use skills_test_support::process::SkillsProcess;

use super::support::until;

const CENTURY: Duration = Duration::from_hours(24 * 36_525);

fn set_modified(path: &Path, time: SystemTime) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(time).unwrap();
}

/// An edit is found by the content of the folder, not by the order of times.
#[tokio::test(flavor = "multi_thread")]
async fn edits_are_served_whatever_their_time() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "config.yaml", "skills: ['docs/*.md']\n");
    write(dir, "docs/a.md", "# Zero\n");
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (_serve, addresses) = SkillsProcess::serve(&dir.join("data"), &more).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    let mut events = peer.subscribe("skills::on-change", "peer::on-change");
    // The answer shows that the engine has the subscription.
    assert_eq!(peer.read("iii://a").await.unwrap(), "# Zero\n");
    let now = SystemTime::now();
    let times = [
        now + CENTURY,
        SystemTime::UNIX_EPOCH,
        now - CENTURY / 4,
        now,
    ];
    let path = dir.join("docs/a.md");
    for (number, time) in times.into_iter().enumerate() {
        // The same size each time, so that only content and time differ.
        let text = format!("# Edit {number}\n");
        replace(dir, "docs/a.md", &text);
        set_modified(&path, time);
        assert_eq!(peer.read("iii://a").await.unwrap(), text);
        let list = peer.call("skills::list", json!({})).await.unwrap();
        assert_eq!(list["skills"].as_array().unwrap().len(), 1, "{list}");
        let index = peer.read("iii://skills").await.unwrap();
        assert!(index.contains(&format!("Edit {number}")), "{index}");
        assert_eq!(next_event(&mut events).await["id"], "a");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_from_the_future_and_the_past_are_listed_and_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (_serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    let times = [
        "9999-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00.000000Z",
        "0000-01-01T00:00:00Z",
        "not a time",
        "",
    ];
    for (number, time) in times.into_iter().enumerate() {
        let row = json!({ "id": format!("s{number}"), "skill": "# S", "registered_at": time });
        let set = json!({ "scope": "skills", "key": format!("s{number}"), "value": row });
        peer.call("state::set", set).await.unwrap();
    }
    // The registry receives the rows of another worker as events.
    until("every row is listed", || async {
        peer.skill_ids().await.len() == times.len()
    })
    .await;
    let command = skills_test_support::process::skills_command()
        .args(["list", "--url", &addresses.url])
        .output()
        .unwrap();
    assert!(command.status.success(), "{command:?}");
    for number in 0..times.len() {
        let answer = peer.register_skill(&format!("s{number}"), "# New").await;
        let time = answer["registered_at"].as_str().unwrap();
        assert!(time.starts_with("20"), "{time}");
    }
}
