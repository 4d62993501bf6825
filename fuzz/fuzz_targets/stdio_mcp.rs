//! Any bytes as the stdin of `skills mcp` and of `skills mcp agent.3md`: each line of output is JSON.

#![no_main]

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use skills_fuzz::{block_on, mcp_server};
use skills_mcp::RegistryServer;
use skills_mcp::document::{ServedAgent, Session};
use skills_mcp::stdio::{Limits, serve_on};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_util::sync::CancellationToken;

const DOCUMENT: &str = include_str!("../../examples/agent.3md");

static SERVER: LazyLock<RegistryServer> = LazyLock::new(mcp_server);
static AGENT: LazyLock<Arc<ServedAgent>> = LazyLock::new(|| {
    let agent = agent3md::Agent::parse(DOCUMENT).unwrap();
    Arc::new(ServedAgent::new(agent))
});

fuzz_target!(|bytes: &[u8]| {
    let mut session = Session::new(Arc::clone(&AGENT));
    let mut output = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        session.respond(line, &mut output);
    }
    session.finish(&mut output);
    check(&output);
    check(&block_on(answers(bytes.to_vec())));
});

/// What `skills mcp` writes for this input.
async fn answers(bytes: Vec<u8>) -> Vec<u8> {
    let limits = Limits {
        drain: Duration::from_millis(20),
        ..Limits::default()
    };
    let (mut input, server_input) = duplex(1 << 16);
    let (server_output, mut output) = duplex(1 << 16);
    let stop = CancellationToken::new();
    let serving = serve_on(SERVER.clone(), server_input, server_output, limits, stop);
    let write = async {
        let _ = input.write_all(&bytes).await;
        drop(input);
    };
    let mut text = Vec::new();
    let (_, _, _) = tokio::join!(serving, write, output.read_to_end(&mut text));
    text
}

fn check(output: &[u8]) {
    for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<Value>(line).expect("a line of JSON");
    }
}
