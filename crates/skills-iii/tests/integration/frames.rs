//! Large messages and large frames.

use crate::common::{ID, RawWorker, TestHub, assert_hub_works, in_time};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use skills_iii::limits::MAX_FRAME_BYTES;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame as RawFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// The frames of a message, each of this many bytes.
fn fragments(text: &str, bytes: usize) -> Vec<Frame> {
    let parts: Vec<_> = text.as_bytes().chunks(bytes).collect();
    let last = parts.len() - 1;
    let frame = |(number, part): (usize, &[u8])| {
        let kind = if number == 0 {
            Data::Text
        } else {
            Data::Continue
        };
        let frame = RawFrame::message(part.to_vec(), OpCode::Data(kind), number == last);
        Frame::Frame(frame)
    };
    parts.into_iter().enumerate().map(frame).collect()
}

#[tokio::test]
async fn a_message_above_the_largest_frame_is_accepted_in_fragments() {
    let hub = TestHub::start().await;
    let mut raw_worker = RawWorker::named(hub.address, "raw_worker").await;
    let row = json!({ "scope": "s", "key": "k", "value": "x".repeat(20_000_000) });
    let set = json!({ "type": "invokefunction", "invocation_id": ID,
        "function_id": "state::set", "data": row });
    for frame in fragments(&set.to_string(), MAX_FRAME_BYTES) {
        raw_worker.0.send(frame).await.unwrap();
    }
    let answer = raw_worker.receive().await;
    let new = answer["result"]["new_value"].as_str().unwrap();
    assert_eq!(new.len(), 20_000_000);
}

/// The close frame of a connection.
async fn wait_close_reason(raw_worker: &mut RawWorker) -> (u16, String) {
    loop {
        match in_time("a close frame", raw_worker.0.next())
            .await
            .unwrap()
            .unwrap()
        {
            Frame::Close(Some(close)) => return (close.code.into(), close.reason.to_string()),
            Frame::Close(None) => panic!("a close frame without a reason"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_frame_or_message_that_is_too_large_ends_its_connection_with_a_reason() {
    let hub = TestHub::with(|options| options.max_message_bytes = 20 << 20).await;
    // The announcement is enough.
    let mut announcing = RawWorker::named(hub.address, "announcing").await;
    let mut header = vec![0x81, 0xFF];
    header.extend((17_u64 << 20).to_be_bytes());
    header.extend([0; 4]);
    announcing.0.get_mut().write_all(&header).await.unwrap();
    let (code, reason) = wait_close_reason(&mut announcing).await;
    assert_eq!(code, 1009);
    assert!(
        reason.contains("17825792") && reason.contains("16777216"),
        "{reason}"
    );

    let mut fragmenting = RawWorker::named(hub.address, "fragmenting").await;
    for frame in fragments(&"x".repeat(21 << 20), 1 << 20) {
        // Fails once the hub has closed the connection.
        if fragmenting.0.send(frame).await.is_err() {
            break;
        }
    }
    let (code, reason) = wait_close_reason(&mut fragmenting).await;
    assert_eq!(code, 1009);
    assert!(reason.contains("20971520"), "{reason}");
    assert_hub_works(&hub).await;
}
