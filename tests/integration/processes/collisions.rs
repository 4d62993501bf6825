//! Registered skills that hide files, on a running server: the log, iii and MCP.

use std::fs;
use std::path::Path;

use serde_json::json;
use skills_test_support::engine::Peer;
use skills_test_support::files::{replace, write};
use skills_test_support::process::{Addresses, SkillsProcess};

/// Serves the folder `docs`, and warns of registrations that hide its files.
async fn serve_docs(dir: &Path) -> (SkillsProcess, String, Peer) {
    write(
        dir,
        "config.yaml",
        "skills: ['docs/**/*.md']\nsources:\n  on_conflict: warn\n",
    );
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &more).await;
    let peer = Peer::connect(&url, "peer").await;
    (serve, url, peer)
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_files_are_reported_and_stay_readable_over_iii_and_mcp() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(
        dir,
        "docs/resend.md",
        "# From a file\n\n## Use\n\nRead it.\n",
    );
    write(dir, "docs/same.md", "# The same");
    let (mut serve, url, peer) = serve_docs(dir).await;
    peer.register_skill("same", "# The same").await;
    peer.register_skill("resend", "# From a worker").await;
    // The first warning is about this one: equal bodies are not a collision.
    let warned = serve.wait_for_log("hides a file").await;
    assert_eq!(warned["level"], "WARN", "{warned}");
    let path = dir.join("docs/resend.md");
    assert_eq!(warned["place"], path.to_str().unwrap(), "{warned}");

    let mut mcp = SkillsProcess::start(&["mcp", "--url", &url]);
    let mut client = mcp.client();
    client.initialize("2025-11-25").await;
    let expected = "# From a file\n\n## Use\n\nRead it.\n";
    let uri = "iii://@files/resend";
    assert_eq!(peer.read(uri).await.unwrap(), expected);
    let read = client
        .request("resources/read", json!({ "uri": uri }))
        .await;
    assert_eq!(read.unwrap()["contents"][0]["text"], expected);
    let uri = json!({ "uri": "iii://@files/resend#use" });
    let read = client.request("resources/read", uri).await.unwrap();
    assert_eq!(read["contents"][0]["text"], "## Use\n\nRead it.\n");
    let uri = json!({ "uri": "iii://@agents/resend" });
    let read = client.request("resources/read", uri).await;
    assert!(read.unwrap_err().to_string().contains("not found"));

    // The process on the engine marks the same as the server, and lists each id once.
    let index = peer.read("iii://skills").await.unwrap();
    let marked = "- [`resend`](iii://resend) \u{2014} From a worker (hides iii://@files/)\n";
    assert!(index.contains(marked), "{index}");
    let uri = json!({ "uri": "iii://skills" });
    let read = client.request("resources/read", uri).await.unwrap();
    assert_eq!(read["contents"][0]["text"], *index);
    let listed = client.request("resources/list", json!({})).await.unwrap();
    let uris = listed["resources"].as_array().unwrap().iter();
    let uris: Vec<_> = uris.map(|r| r["uri"].as_str().unwrap()).collect();
    assert_eq!(uris, ["iii://skills", "iii://resend", "iii://same"]);

    // A file that appears is reported too.
    replace(dir, "docs/same.md", "# Another");
    let warned = serve.wait_for_log("hides the file").await;
    assert_eq!(warned["uri"], "iii://@files/same", "{warned}");
    client.close().await;
    let (status, stderr) = mcp.wait().await;
    assert!(status.success(), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_files_of_a_skill_folder_are_reported_and_marked_in_every_process() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    let skill_md = "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n";
    write(dir, "docs/pdf/SKILL.md", skill_md);
    write(dir, "docs/pdf/api.md", "# From a file");
    write(dir, "docs/pdf/same.md", "---\ntitle: T\n---\n# The same");
    let (mut serve, url, peer) = serve_docs(dir).await;
    peer.register_skill("pdf/same", "# The same").await;
    peer.register_skill("pdf/late", "# Late").await;
    peer.register_skill("pdf/api", "# From a worker").await;
    let warned = serve.wait_for_log("hides a file").await;
    let path = dir.join("docs/pdf/api.md");
    assert_eq!(warned["place"], path.to_str().unwrap(), "{warned}");

    let index = peer.read("iii://skills").await.unwrap();
    let marked: Vec<_> = index.lines().filter(|l| l.contains("hides")).collect();
    let [marked] = marked[..] else {
        panic!("one mark: {index}");
    };
    assert!(marked.contains("(iii://pdf/api)"), "{index}");
    let mut mcp = SkillsProcess::start(&["mcp", "--url", &url]);
    let mut client = mcp.client();
    client.initialize("2025-11-25").await;
    let uri = json!({ "uri": "iii://skills" });
    let read = client.request("resources/read", uri).await.unwrap();
    assert_eq!(read["contents"][0]["text"], *index);

    // A file that appears is reported with its folder.
    write(dir, "docs/pdf/late.md", "# From a file");
    loop {
        let warned = serve.wait_for_log("hides the file").await;
        if warned["uri"] == "iii://@files/pdf/late" {
            break;
        }
        assert_eq!(warned["uri"], "iii://@files/pdf/api", "{warned}");
    }
    client.close().await;
    let (status, stderr) = mcp.wait().await;
    assert!(status.success(), "{stderr}");
}
