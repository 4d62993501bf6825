//! Folders that the command line names, and prompt files with arguments, beside an engine.

use std::fs;

use serde_json::{Value, json};
use skills_core::Digest;
use skills_test_support::NO_ENGINE;
use skills_test_support::engine::Peer;
use skills_test_support::files::write;
use skills_test_support::process::{Addresses, SkillsProcess};
use skills_test_support::test_client::TestClient;

const PDF: &str = "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n";
const AGENT: &str = "---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_served_without_a_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "docs/pdf/SKILL.md", PDF);
    write(dir, "docs/pdf/scripts/run.py", "print()");
    write(dir, "docs/house/style.md", "# Style\n");
    write(dir, "docs/dev.3md", AGENT);
    write(dir, "mail/SKILL.md", "# Mail\n");
    let paths = [dir.join("docs"), dir.join("mail")];
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    let (serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &paths).await;
    let peer = Peer::connect(&url, "peer").await;
    assert_eq!(
        peer.skill_ids().await,
        ["dev", "house/style", "mail", "pdf"]
    );
    assert_eq!(peer.read("iii://mail").await.unwrap(), "# Mail\n");
    let file = peer.read("skill://pdf/scripts/run.py").await.unwrap();
    assert_eq!(file, "print()");
    drop(peer);
    let (status, stderr) = serve.terminate().await;
    assert!(status.success(), "{stderr}");
    assert!(!stderr.contains("WARN"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_an_engine_sees_its_own_folders_too() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "mine/pdf/SKILL.md", PDF);
    write(dir, "config.yaml", "prompts: ['prompts/*.md']\n");
    let prompt = "---\ndescription: Writes.\narguments:\n- {name: to, required: true}\n\
                  - {name: tone, enum: [short, formal]}\n---\n{{to}}: $2";
    write(dir, "prompts/mail.md", prompt);
    let config = dir.join("config.yaml");
    let more = ["--config", config.to_str().unwrap()];
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &more).await;
    let peer = Peer::connect(&url, "peer").await;
    peer.register_skill("theirs", "# Theirs").await;

    let mine = dir.join("mine");
    let mut mcp = SkillsProcess::start(&["mcp", "--url", &url, mine.to_str().unwrap()]);
    let mut client = mcp.client();
    client.initialize("2025-11-25").await;
    let listed = client.request("resources/list", json!({})).await.unwrap();
    let resources = listed["resources"].as_array().unwrap().iter();
    let uris: Vec<_> = resources
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    let expected = [
        "iii://skills",
        "iii://pdf",
        "iii://theirs",
        "skill://pdf/SKILL.md",
    ];
    assert_eq!(uris, expected);

    let listed = client.request("prompts/list", json!({})).await.unwrap();
    assert_eq!(
        listed["prompts"][0]["arguments"],
        json!([
            { "name": "to", "required": true },
            { "name": "tone", "description": "one of `short`, `formal`", "required": false },
        ])
    );
    let get = |arguments: Value| json!({ "name": "mail", "arguments": arguments });
    let fits = get(json!({ "to": "Ada", "tone": "formal" }));
    let rendered = client.request("prompts/get", fits).await.unwrap();
    assert_eq!(rendered["messages"][0]["content"]["text"], "Ada: formal");
    for (arguments, message) in [
        (json!({}), "is missing required argument `to`"),
        (
            json!({ "to": "Ada", "tone": "loud" }),
            "use one of short, formal",
        ),
        (json!({ "to": "Ada", "cc": "Bo" }), "has no argument `cc`"),
    ] {
        let error = client
            .request("prompts/get", get(arguments))
            .await
            .unwrap_err();
        assert_eq!(error["code"], -32602, "{error}");
        let text = error["message"].as_str().unwrap();
        assert!(text.contains(message), "{text}");
    }
    client.close().await;
    let (status, stderr) = mcp.wait().await;
    assert!(status.success(), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn through_an_engine_folders_are_what_their_own_process_serves() {
    let dir = tempfile::tempdir().unwrap();
    let dir = &fs::canonicalize(dir.path()).unwrap();
    write(dir, "docs/pdf/SKILL.md", PDF);
    write(dir, "docs/pdf/scripts/run.py", "print()\r\n");
    fs::write(dir.join("docs/pdf/logo.png"), b"\x89PNG\xff").unwrap();
    let nested = "---\nname: forms\ndescription: Fills forms.\n---\n# Forms\n";
    write(dir, "docs/pdf/forms/SKILL.md", nested);
    write(dir, "docs/pdf/references/api.md", "# API\n");
    write(dir, "docs/wrong/SKILL.md", PDF);
    let plain = "---\ntitle: Style\nlicense: MIT\n---\n# House style\n\nRules.\n";
    write(dir, "docs/house/style.md", plain);
    write(dir, "docs/dev.3md", AGENT);
    let docs = dir.join("docs");
    let docs = docs.to_str().unwrap();
    let (_serve, Addresses { url, .. }) = SkillsProcess::serve(&dir.join("data"), &[docs]).await;
    let mut remote = SkillsProcess::start(&["mcp", "--url", &url]);
    let own = dir.join("own");
    let own = own.to_str().unwrap();
    let mut direct = SkillsProcess::start(&["mcp", "--url", NO_ENGINE, "--data-dir", own, docs]);
    let mut clients = [remote.client(), direct.client()];
    for client in &mut clients {
        client.initialize("2025-11-25").await;
    }

    let listed = same(&mut clients, "skills/list", json!({})).await.unwrap();
    let skills = listed["skills"].as_array().unwrap();
    let uris: Vec<_> = skills
        .iter()
        .map(|skill| skill["uri"].as_str().unwrap())
        .collect();
    let expected = [
        "skill://dev/SKILL.md",
        "skill://house/style/SKILL.md",
        "skill://pdf/SKILL.md",
        "skill://pdf/forms/SKILL.md",
    ];
    assert_eq!(uris, expected);
    for skill in skills {
        let uri = json!({ "uri": skill["uri"] });
        same(&mut clients, "skills/get", uri).await.unwrap();
        for resource in skill["resources"].as_array().unwrap() {
            let uri = json!({ "uri": resource["uri"] });
            let read = same(&mut clients, "resources/read", uri).await.unwrap();
            let bytes = match read["contents"][0]["text"].as_str() {
                Some(text) => text.as_bytes(),
                None => b"\x89PNG\xff",
            };
            assert_eq!(resource["digest"], Digest::of(bytes).to_string());
        }
    }
    let uri = json!({ "uri": "skill://pdf/scripts/run.py" });
    let read = same(&mut clients, "resources/read", uri).await.unwrap();
    assert_eq!(read["contents"][0]["text"], "print()\r\n");
    for (method, uri, is_found) in [
        ("resources/directory/read", "skill://pdf", true),
        ("resources/directory/read", "skill://", true),
        ("resources/read", "iii://pdf/references/api", true),
        ("resources/read", "iii://wrong", true),
        ("resources/read", "skill://wrong/SKILL.md", true),
        ("resources/read", "skill://pdf/scripts/rum.py", false),
        ("skills/get", "skill://wrong/SKILL.md", false),
        ("skills/get", "skill://none/SKILL.md", false),
    ] {
        let got = same(&mut clients, method, json!({ "uri": uri })).await;
        assert_eq!(got.is_ok(), is_found, "{method} {uri}: {got:?}");
    }
    same(&mut clients, "resources/list", json!({}))
        .await
        .unwrap();
    for client in clients {
        client.close().await;
    }
    for process in [remote, direct] {
        let (status, stderr) = process.wait().await;
        assert!(status.success(), "{stderr}");
    }
}

/// The result that both servers give.
async fn same(clients: &mut [TestClient; 2], method: &str, params: Value) -> Result<Value, Value> {
    let [remote, direct] = clients;
    let expected = direct.request(method, params.clone()).await;
    let got = remote.request(method, params.clone()).await;
    assert_eq!(got, expected, "{method} {params}");
    got
}
