//! The extension `io.modelcontextprotocol/skills`: lists, entries, folders, files and notices.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use skills_core::Digest;
use skills_test_support::test_client::TestClient;
use tempfile::TempDir;

use super::fixture::Fixture;

const PDF: &str = "---\nname: pdf\ndescription: \"Reads PDF: all\"\nlicense: MIT\n---\n# PDF\r\n";

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A folder skill with a nested one, one that is rejected, plain markdown and an agent.
fn files() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| write(dir.path(), name, content);
    write("pdf/SKILL.md", PDF.as_bytes());
    write("pdf/scripts/a b.py", b"print('x')\r\n");
    write("pdf/logo.png", b"\x89PNG\xff");
    write(
        "pdf/forms/SKILL.md",
        b"---\nname: forms\ndescription: Fills forms.\n---\n# Forms\n",
    );
    write(
        "wrong/SKILL.md",
        b"---\nname: other\ndescription: x\n---\n# W\n",
    );
    write(
        "docs/plain.md",
        b"---\ntitle: Plain\n---\n# P\n\nA plain file.\n",
    );
    write(
        "dev.3md",
        b"---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n",
    );
    dir
}

async fn list(client: &mut TestClient) -> Vec<Value> {
    let listed = client.request("skills/list", json!({})).await.unwrap();
    listed["skills"].as_array().unwrap().clone()
}

fn uris(entries: &Value) -> Vec<&str> {
    let entries = entries.as_array().unwrap().iter();
    entries
        .map(|entry| entry["uri"].as_str().unwrap())
        .collect()
}

async fn read(client: &mut TestClient, uri: &str) -> Value {
    let params = json!({ "uri": uri });
    let mut read = client.request("resources/read", params).await.unwrap();
    read["contents"][0].take()
}

/// Reads every file of an entry and compares it with its digest and its size.
async fn verify(client: &mut TestClient, entry: &Value) {
    for resource in entry["resources"].as_array().unwrap() {
        let uri = resource["uri"].as_str().unwrap();
        let content = read(client, uri).await;
        let bytes = if let Some(text) = content["text"].as_str() {
            text.as_bytes().to_owned()
        } else {
            assert_eq!(content["blob"], "iVBOR/8=", "{uri}");
            b"\x89PNG\xff".to_vec()
        };
        assert_eq!(resource["size"], bytes.len(), "{uri}");
        assert_eq!(resource["digest"], Digest::of(&bytes).to_string(), "{uri}");
    }
}

#[tokio::test]
async fn the_capability_is_announced_in_both_eras() {
    let fixture = Fixture::new().await;
    let expected = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
    let initialized = fixture.connect().initialize("2025-11-25").await;
    assert_eq!(initialized["capabilities"]["extensions"], expected);
    let mut client = fixture.connect();
    let discovered = client.request_stateless("server/discover", json!({})).await;
    assert_eq!(discovered.unwrap()["capabilities"]["extensions"], expected);
}

#[tokio::test]
async fn every_listed_file_has_its_exact_digest() {
    let files = files();
    let fixture = Fixture::with_files(files.path()).await;
    fixture
        .register_skill(
            "team/send-mail",
            "---\ntitle: Mail\n---\n# M\n\nSends \"mail\".\n",
        )
        .await;
    fixture.register_skill("team/send_mail", "# No name").await;
    let mut client = fixture.client().await;
    let skills = list(&mut client).await;
    let all = Value::from(skills.clone());
    assert_eq!(
        uris(&all),
        [
            "skill://dev/SKILL.md",
            "skill://docs/plain/SKILL.md",
            "skill://pdf/SKILL.md",
            "skill://pdf/forms/SKILL.md",
            "skill://team/send-mail/SKILL.md",
        ]
    );
    for entry in &skills {
        verify(&mut client, entry).await;
    }
    let pdf = &skills[2];
    let front_matter = json!({ "name": "pdf", "description": "Reads PDF: all", "license": "MIT" });
    assert_eq!(pdf["frontmatter"], front_matter);
    assert_eq!(
        uris(&pdf["resources"]),
        [
            "skill://pdf/SKILL.md",
            "skill://pdf/forms/SKILL.md",
            "skill://pdf/logo.png",
            "skill://pdf/scripts/a%20b.py",
        ]
    );
    let content = read(&mut client, "skill://pdf/SKILL.md").await;
    assert_eq!(content["text"], PDF);
    assert_eq!(content["mimeType"], "text/markdown");
    let content = read(&mut client, "skill://pdf/logo.png").await;
    assert_eq!(content["mimeType"], "image/png");
    let mail = read(&mut client, "skill://team/send-mail/SKILL.md").await;
    assert_eq!(
        mail["text"],
        "---\nname: \"send-mail\"\ndescription: \"Sends \\\"mail\\\".\"\n---\n\
         ---\ntitle: Mail\n---\n# M\n\nSends \"mail\".\n"
    );
    let raw = read(&mut client, "iii://team/send-mail").await;
    assert!(
        raw["text"]
            .as_str()
            .unwrap()
            .starts_with("---\ntitle: Mail\n")
    );
}

#[tokio::test]
async fn a_registered_skill_below_a_folder_is_a_file_of_it() {
    let files = files();
    let fixture = Fixture::with_files(files.path()).await;
    fixture.register_skill("pdf/forms", "# New forms").await;
    fixture.register_skill("pdf/extra", "# Extra").await;
    fixture.register_skill("docs", "# Docs").await;
    let mut client = fixture.client().await;
    let skills = list(&mut client).await;
    for entry in &skills {
        verify(&mut client, entry).await;
    }
    let all = Value::from(skills.clone());
    let at = |uri: &str| uris(&all).iter().position(|found| *found == uri).unwrap();
    let pdf = uris(&skills[at("skill://pdf/SKILL.md")]["resources"]);
    assert!(pdf.contains(&"skill://pdf/extra/SKILL.md"), "{pdf:?}");
    let docs = uris(&skills[at("skill://docs/SKILL.md")]["resources"]);
    assert_eq!(
        docs,
        ["skill://docs/SKILL.md", "skill://docs/plain/SKILL.md"]
    );
    let forms = read(&mut client, "skill://pdf/forms/SKILL.md").await;
    assert!(
        forms["text"]
            .as_str()
            .unwrap()
            .ends_with("\n---\n# New forms")
    );
}

#[tokio::test]
async fn one_skill_is_returned_as_listed_or_refused_with_the_reason() {
    let files = files();
    let fixture = Fixture::with_files(files.path()).await;
    let mut client = fixture.client().await;
    for listed in list(&mut client).await {
        let params = json!({ "uri": listed["uri"] });
        let got = client.request("skills/get", params).await.unwrap();
        assert_eq!(got, json!({ "skill": listed }));
    }
    for (uri, part) in [
        ("skill://wrong/SKILL.md", "but its folder is `wrong`"),
        ("skill://none/SKILL.md", "skill not found: none"),
        ("skill://pdf/logo.png", "is not that of a skill"),
        ("iii://pdf", "is not that of a skill"),
        ("skill://pdf", "names no file"),
        ("https://x", "must start with"),
    ] {
        let params = json!({ "uri": uri });
        let refused = client.request("skills/get", params).await.unwrap_err();
        assert_eq!(refused["code"], -32602, "{uri}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains(part), "{message:?} has no {part:?}");
    }
    // A rejected skill is served all the same.
    assert_eq!(read(&mut client, "iii://wrong").await["text"], "# W\n");
    for (method, params, part) in [
        ("skills/get", json!({}), "missing field `uri`"),
        ("skills/get", json!({ "uri": 5 }), "`uri`: invalid type"),
        ("skills/list", json!({ "cursor": 5 }), "`cursor`"),
        (
            "skills/list",
            json!({ "cursor": "x" }),
            "not from this list",
        ),
        ("resources/directory/read", json!({}), "missing field `uri`"),
    ] {
        let refused = client.request(method, params).await.unwrap_err();
        assert_eq!(refused["code"], -32602, "{method}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains(part), "{message:?} has no {part:?}");
    }
}

#[tokio::test]
async fn folders_list_their_direct_children() {
    let files = files();
    let fixture = Fixture::with_files(files.path()).await;
    let mut client = fixture.client().await;
    let mut folder = async |uri: &str| {
        let params = json!({ "uri": uri });
        client.request("resources/directory/read", params).await
    };
    let pdf = folder("skill://pdf").await.unwrap();
    let children = pdf["resources"].as_array().unwrap().iter();
    let children: Vec<_> = children
        .map(|child| {
            [
                &child["uri"],
                &child["name"],
                &child["mimeType"],
                &child["size"],
            ]
        })
        .collect();
    let folder_type = "inode/directory";
    assert_eq!(
        json!(children),
        json!([
            ["skill://pdf/SKILL.md", "pdf", "text/markdown", PDF.len()],
            ["skill://pdf/forms", "forms", folder_type, null],
            ["skill://pdf/logo.png", "logo.png", "image/png", 5],
            ["skill://pdf/scripts", "scripts", folder_type, null],
        ])
    );
    assert_eq!(pdf["resources"][0]["description"], "Reads PDF: all");
    let scripts = folder("skill://pdf/scripts/").await.unwrap();
    assert_eq!(
        uris(&scripts["resources"]),
        ["skill://pdf/scripts/a%20b.py"]
    );
    let docs = folder("skill://docs").await.unwrap();
    assert_eq!(uris(&docs["resources"]), ["skill://docs/plain"]);
    let root = folder("skill://").await.unwrap();
    assert_eq!(
        uris(&root["resources"]),
        [
            "skill://dev",
            "skill://docs",
            "skill://pdf",
            "skill://wrong"
        ]
    );
    for uri in [
        "skill://pdf/SKILL.md",
        "skill://none",
        "skill://pd",
        "iii://pdf",
        "skill://a/../b",
    ] {
        let refused = folder(uri).await.unwrap_err();
        assert_eq!(refused["code"], -32602, "{uri}: {refused}");
    }
}

#[tokio::test]
async fn results_have_the_members_of_their_era() {
    let files = files();
    let fixture = Fixture::with_files(files.path()).await;
    let mut client = fixture.connect();
    for (method, params) in [
        ("skills/list", json!({})),
        ("skills/get", json!({ "uri": "skill://pdf/SKILL.md" })),
        ("resources/directory/read", json!({ "uri": "skill://pdf" })),
    ] {
        let modern = client
            .request_stateless(method, params.clone())
            .await
            .unwrap();
        assert_eq!(modern["resultType"], "complete", "{method}");
        assert_eq!(modern["ttlMs"], 0, "{method}");
        assert_eq!(modern["cacheScope"], "private", "{method}");
        let mut earlier = fixture.client().await;
        let legacy = earlier.request(method, params).await.unwrap();
        for member in ["resultType", "ttlMs", "cacheScope"] {
            assert_eq!(legacy.get(member), None, "{method}");
        }
    }
}

#[tokio::test]
async fn a_long_list_has_pages() {
    let fixture = Fixture::new().await;
    for n in 0..1002 {
        fixture.register_skill(&format!("s{n:04}"), "# S").await;
    }
    let mut client = fixture.client().await;
    let first = client.request("skills/list", json!({})).await.unwrap();
    let cursor = json!({ "cursor": first["nextCursor"] });
    let second = client.request("skills/list", cursor).await.unwrap();
    assert_eq!(second.get("nextCursor"), None);
    assert_eq!(uris(&first["skills"]).len(), 1000);
    assert_eq!(
        uris(&second["skills"]),
        ["skill://s1000/SKILL.md", "skill://s1001/SKILL.md"]
    );
}

#[tokio::test]
async fn a_parent_with_too_many_files_is_left_out_of_the_list() {
    let fixture = Fixture::new().await;
    fixture.register_skill("team", "# Team").await;
    for n in 0..512 {
        fixture.register_skill(&format!("team/s{n}"), "# S").await;
    }
    let mut client = fixture.client().await;
    assert_eq!(list(&mut client).await.len(), 512);
    let params = json!({ "uri": "skill://team/SKILL.md" });
    let got = client.request("skills/get", params).await.unwrap();
    assert_eq!(uris(&got["skill"]["resources"]).len(), 513);
}

#[tokio::test]
async fn a_change_between_list_and_read_is_announced() {
    let files = files();
    let fixture = Fixture::with_files(files.path()).await;
    let mut client = fixture.client().await;
    let params = json!({ "uri": "skill://pdf/scripts/a%20b.py" });
    client
        .request("resources/subscribe", params.clone())
        .await
        .unwrap();
    let before = list(&mut client).await;
    // Changes are found by comparison with the first walk.
    while fixture.embedded.file_counts.skills.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    write(files.path(), "pdf/scripts/a b.py", "print('y')\n");
    client
        .notification("notifications/resources/list_changed")
        .await;
    let updated = client.notification("notifications/resources/updated").await;
    assert_eq!(updated, params);
    let after = list(&mut client).await;
    assert_ne!(before, after);
    for entry in &after {
        verify(&mut client, entry).await;
    }
}

#[tokio::test]
async fn resources_list_has_the_skill_md_of_folders() {
    let files = files();
    let fixture = Fixture::with_files(files.path()).await;
    let mut client = fixture.client().await;
    let listed = client.request("resources/list", json!({})).await.unwrap();
    let all = uris(&listed["resources"]);
    assert_eq!(
        all[all.len() - 2..],
        ["skill://pdf/SKILL.md", "skill://pdf/forms/SKILL.md"]
    );
    let pdf = &listed["resources"][all.len() - 2];
    assert_eq!(pdf["name"], "pdf");
    assert_eq!(pdf["description"], "Reads PDF: all");
    assert_eq!(pdf["size"], PDF.len());
}
