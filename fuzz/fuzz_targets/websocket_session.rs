//! Any bytes on a worker's socket, as they are or as text frames: the engine answers the next worker.
//!
//! If the first byte is even, each line of the rest is a text frame; otherwise the rest is sent as
//! it is.

#![no_main]

use std::net::SocketAddr;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use skills::app::EmbeddedRegistry;
use skills::config::LoadedConfig;
use skills_access::AccessPolicy;
use skills_fuzz::block_on;
use skills_test_support::raw_socket::{RawSocket, text_frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

static ADDRESS: LazyLock<SocketAddr> = LazyLock::new(|| {
    block_on(async {
        let dir = tempfile::tempdir().unwrap().keep();
        let embedded = EmbeddedRegistry::open(&dir, AccessPolicy::default(), &LoadedConfig::default());
        let mut embedded = embedded.unwrap();
        assert!(embedded.ready().await);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            embedded.hub.serve(listener, std::future::pending()).await;
        });
        address
    })
});

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    let address = *ADDRESS;
    block_on(async {
        let socket = RawSocket::connect(address).await.expect("the engine accepts");
        let (mut receiver, mut sender) = socket.split();
        let is_text = kind % 2 == 0;
        let send = async {
            if is_text {
                for line in String::from_utf8_lossy(rest).lines() {
                    sender.write_all(&text_frame(line)).await?;
                }
                sender.write_all(&text_frame(r#"{"type":"ping"}"#)).await
            } else {
                sender.write_all(rest).await?;
                sender.shutdown().await
            }
        };
        let receive = async {
            let mut received = Vec::new();
            while receiver.read_buf(&mut received).await.is_ok_and(|count| count > 0) {
                if is_text && received.windows(13).any(|part| part == br#""type":"pong""#) {
                    return;
                }
            }
        };
        // A failed write means that the engine has closed the connection.
        let (_, ()) = tokio::join!(send, receive);
    });
});
