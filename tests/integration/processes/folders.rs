//! Folders that the command line names, and prompt files with arguments, beside an engine.

use std::fs;

use serde_json::{Value, json};
use skills_test_support::engine::Peer;
use skills_test_support::files::write;
use skills_test_support::process::{Addresses, SkillsProcess};

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
