//! The disk is full, and then it has room again.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use skills_test_support::engine::Peer;
use skills_test_support::process::{SkillsProcess, serve_arguments, skills_command};
use skills_test_support::usage::set_limit;

use super::support::healthz;

/// Writes until the disk is full, makes room, and writes again: nothing acknowledged is lost, and no
/// restart is needed.
async fn fill_and_free(dir: &Path, serve: Running, fill: impl Fn(), free: impl Fn()) {
    let Running {
        process,
        peer,
        http,
    } = serve;
    peer.register_skill("first", "# First").await;
    fill();
    let body = "x".repeat(200_000);
    let mut acknowledged = vec!["first".to_owned()];
    let refused = loop {
        let id = format!("s{}", acknowledged.len());
        let skill = json!({ "id": id, "skill": body });
        match peer.call("skills::register", skill).await {
            Ok(_) => acknowledged.push(id),
            Err(refused) => {
                // The last room was enough for the skill and not for its version; the error says so.
                if refused.contains("which is registered without it now") {
                    acknowledged.push(id);
                }
                break refused;
            }
        }
        assert!(acknowledged.len() < 2_000, "the disk never fills");
    };
    // SQLite or the system is first to notice it.
    assert!(
        refused.contains("full") || refused.contains("no space left"),
        "the error names the cause: {refused}"
    );
    let (status, health) = healthz(http).await;
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable", "{health}");
    // Reads go on.
    assert_eq!(peer.read("iii://first").await.unwrap(), "# First");
    acknowledged.sort();
    assert_eq!(peer.skill_ids().await, acknowledged);
    free();
    peer.register_skill("zz-last", "# Last").await;
    acknowledged.push("zz-last".into());
    let (status, health) = healthz(http).await;
    assert_eq!(status, "HTTP/1.1 200 OK", "{health}");
    assert_eq!(peer.skill_ids().await, acknowledged);
    process.kill().await;
    let (_serve, addresses) = SkillsProcess::serve(dir, &[]).await;
    let peer = Peer::connect(&addresses.url, "peer").await;
    assert_eq!(peer.skill_ids().await, acknowledged);
}

struct Running {
    process: SkillsProcess,
    peer: Peer,
    http: SocketAddr,
}

/// Starts `skills serve` without the signal that a limit on the size of files sends: a full disk sends
/// none.
async fn serve(dir: &Path) -> Running {
    let mut command = skills_command();
    let program = command.get_program().to_owned();
    let mut shell = Command::new("sh");
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    command = shell;
    command
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(program)
        .args(serve_arguments(dir, &[]));
    let mut process = SkillsProcess::spawn(command);
    let addresses = process.wait_until_ready().await;
    let peer = Peer::connect(&addresses.url, "writer").await;
    let http = addresses.http;
    Running {
        process,
        peer,
        http,
    }
}

/// A limit on the size of files stands in for a full disk: writes past it fail.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_writes_and_a_freed_one_takes_them() {
    let dir = tempfile::tempdir().unwrap();
    let serve = serve(dir.path()).await;
    let pid = serve.process.pid();
    fill_and_free(
        dir.path(),
        serve,
        || set_limit(pid, "--fsize=2000000:"),
        || set_limit(pid, "--fsize=unlimited:"),
    )
    .await;
}

/// A file system of 16 MB, with a file that takes the room and is then removed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: just campaign"]
async fn a_full_file_system_refuses_writes_and_a_freed_one_takes_them() {
    let dir = tempfile::tempdir().unwrap();
    let mounted = Mount::new(dir.path());
    let data = dir.path().join("data");
    let serve = serve(&data).await;
    let ballast = dir.path().join("ballast");
    fill_and_free(
        &data,
        serve,
        || fs::write(&ballast, vec![0; 12 << 20]).unwrap(),
        || fs::remove_file(&ballast).unwrap(),
    )
    .await;
    drop(mounted);
}

/// A small file system in memory, unmounted when dropped.
struct Mount<'a>(&'a Path);

impl<'a> Mount<'a> {
    fn new(path: &'a Path) -> Self {
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"])
            .arg(path);
        let mounted = mount.status().is_ok_and(|status| status.success());
        assert!(
            mounted,
            "cannot mount a file system of 16 MB at {}: run this test as root, and in a container with CAP_SYS_ADMIN",
            path.display()
        );
        Self(path)
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        // Lazily: the process that was killed may still be ending.
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
