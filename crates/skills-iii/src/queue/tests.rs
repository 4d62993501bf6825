//! Bounds, ends and waiting senders.

use super::*;
use crate::message::{Id, InvocationResult, InvokeFunction, Raw};

fn message(id: &str) -> Message {
    Message::UnregisterFunction(Id { id: id.to_owned() })
}

#[tokio::test]
async fn a_queue_is_bounded_by_messages_and_by_bytes() {
    let weight = message("").weight();
    for limits in [
        QueueLimits {
            messages: 2,
            bytes: 1 << 20,
        },
        QueueLimits {
            messages: 100,
            bytes: 2 * weight,
        },
    ] {
        let (outbox, mut queue) = queue(limits, &Budget::new(usize::MAX));
        outbox.push(message("1")).unwrap();
        outbox.push(message("2")).unwrap();
        let full = outbox.push(message("3")).unwrap_err();
        assert!(matches!(full, PushError::Full), "{limits:?}");
        let mut sent = Box::pin(outbox.send(message("3")));
        assert!(futures_util::poll!(&mut sent).is_pending(), "{limits:?}");
        let receive = async {
            for _ in 0..3 {
                assert!(matches!(queue.recv().await, Next::Message(_)));
            }
        };
        let (sent, ()) = tokio::join!(sent, receive);
        sent.unwrap();
    }
}

#[tokio::test]
async fn a_message_above_the_byte_limit_fits_an_empty_queue() {
    let limits = QueueLimits {
        messages: 100,
        bytes: 1,
    };
    let (outbox, mut queue) = queue(limits, &Budget::new(usize::MAX));
    outbox.push(message("1")).unwrap();
    outbox.push(message("2")).unwrap_err();
    assert!(matches!(queue.recv().await, Next::Message(_)));
    assert!(queue.try_recv().is_none());
    outbox.push(message("2")).unwrap();
}

#[tokio::test]
async fn a_sender_that_waits_for_space_fails_when_the_queue_is_dropped() {
    let limits = QueueLimits {
        messages: 100,
        bytes: 1,
    };
    let (outbox, queue) = queue(limits, &Budget::new(usize::MAX));
    outbox.push(message("1")).unwrap();
    let mut sent = Box::pin(outbox.send(message("2")));
    assert!(futures_util::poll!(&mut sent).is_pending());
    drop(queue);
    assert!(matches!(sent.await, Err(PushError::Closed)));
}

#[tokio::test]
async fn a_control_message_that_does_not_fit_aborts_the_connection() {
    let limits = QueueLimits {
        messages: 1,
        bytes: 1 << 20,
    };
    let (outbox, mut queue) = queue(limits, &Budget::new(usize::MAX));
    outbox.push_or_abort(message("1")).unwrap();
    outbox.push_or_abort(message("2")).unwrap();
    outbox.push_or_abort(message("3")).unwrap_err();
    outbox.abort("too late");
    let reason = "the other end does not read what it is sent";
    assert_eq!(queue.aborted().await, reason);
    assert!(matches!(queue.recv().await, Next::Aborted(why) if why == reason));
}

#[tokio::test]
async fn a_finished_queue_takes_no_message_and_delivers_those_it_has() {
    let (outbox, mut queue) = local_queue(QueueLimits::default());
    outbox.push(message("1")).unwrap();
    outbox.finish();
    let refused = outbox.push(message("2")).unwrap_err();
    assert!(matches!(refused, PushError::Closed));
    assert!(matches!(queue.recv().await, Next::Message(_)));
    assert!(matches!(queue.recv().await, Next::Finished));
}

#[tokio::test]
async fn every_sender_that_waits_gets_its_turn() {
    let limits = QueueLimits {
        messages: 2,
        bytes: 1 << 20,
    };
    let (outbox, mut queue) = queue(limits, &Budget::new(usize::MAX));
    let senders = (0..100).map(|number| {
        let outbox = outbox.clone();
        tokio::spawn(async move { outbox.send(message(&number.to_string())).await })
    });
    let senders: Vec<_> = senders.collect();
    for _ in 0..100 {
        assert!(matches!(queue.recv().await, Next::Message(_)));
    }
    for sender in senders {
        sender.await.unwrap().unwrap();
    }
}

/// A message of about so many bytes.
fn call(bytes: usize) -> Message {
    let text = format!("\"{}\"", "x".repeat(bytes));
    let data = serde_json::value::RawValue::from_string(text).unwrap();
    Message::InvokeFunction(Box::new(InvokeFunction::new("f", data)))
}

fn result(bytes: usize) -> Message {
    let text = format!("\"{}\"", "x".repeat(bytes));
    let data = serde_json::value::RawValue::from_string(text).unwrap();
    Message::InvocationResult(Box::new(InvocationResult::of(Ok(Some(data.into())))))
}

#[tokio::test]
async fn queues_of_one_budget_share_it_and_each_has_its_minimum() {
    let budget = Budget::new(4 << 20);
    let (deaf, mut deaf_queue) = queue(QueueLimits::default(), &budget);
    while deaf.push(call(100 << 10)).is_ok() {}
    let (other, mut other_queue) = queue(QueueLimits::default(), &budget);
    let large = MIN_QUEUED_BYTES + (200 << 10);
    assert!(matches!(other.push(call(large)), Err(PushError::Full)));
    other.push(call(MIN_QUEUED_BYTES / 2)).unwrap();
    assert!(matches!(other_queue.recv().await, Next::Message(_)));
    assert!(other_queue.try_recv().is_none());

    deaf.abort("it does not read");
    assert!(matches!(deaf_queue.recv().await, Next::Aborted(_)));
    other.push(call(large)).unwrap();
    other.push(call(large)).unwrap();
    drop(other_queue);
    let (third, _queue) = queue(QueueLimits::default(), &budget);
    third.push(call(4 << 20)).unwrap();
}

#[tokio::test]
async fn a_message_above_the_budget_fits_if_nothing_else_uses_it() {
    let budget = Budget::new(1 << 20);
    let (outbox, mut queue) = queue(QueueLimits::default(), &budget);
    outbox.push(call(2 << 20)).unwrap();
    outbox.push(call(10)).unwrap_err();
    assert!(matches!(queue.recv().await, Next::Message(_)));
    assert!(queue.try_recv().is_none());
    outbox.push(call(2 << 20)).unwrap();
}

#[tokio::test]
async fn replies_that_wait_are_counted_and_calls_are_not() {
    let (outbox, mut queue) = local_queue(QueueLimits::default());
    outbox.push(call(2 * MAX_UNREAD_REPLY_BYTES)).unwrap();
    assert!(!outbox.has_unread_replies());
    outbox.push(result(MAX_UNREAD_REPLY_BYTES)).unwrap();
    assert!(outbox.has_unread_replies());
    for _ in 0..2 {
        assert!(matches!(queue.recv().await, Next::Message(_)));
    }
    assert!(queue.try_recv().is_none());
    assert!(!outbox.has_unread_replies());
}

#[tokio::test]
async fn an_end_in_this_process_is_not_dropped_and_registrations_have_their_own_space() {
    let limits = QueueLimits {
        messages: 1,
        bytes: 1 << 20,
    };
    let (outbox, mut queue) = local_queue(limits);
    outbox.push(call(1)).unwrap();
    assert!(matches!(outbox.push(call(1)), Err(PushError::Full)));
    outbox.push_registration(message("1")).unwrap();
    outbox.push_registration(message("2")).unwrap_err();
    outbox.push_or_abort(message("3")).unwrap();
    for _ in 0..3 {
        assert!(matches!(queue.recv().await, Next::Message(_)));
    }
}

#[tokio::test]
async fn the_calls_of_several_workers_are_received_in_turn_and_results_first() {
    let (outbox, mut queue) = local_queue(QueueLimits::default());
    let call = |caller: &str, function_id: &str| {
        let mut call = InvokeFunction::new(function_id, Raw::default());
        call.caller = Some(caller.into());
        Message::InvokeFunction(Box::new(call))
    };
    for n in 0..100 {
        outbox.push(call("many", &n.to_string())).unwrap();
    }
    outbox.push(call("one", "one")).unwrap();
    outbox.push(result(1)).unwrap();
    let mut received = Vec::new();
    while received.len() < 102 {
        received.push(match queue.recv().await {
            Next::Message(Message::InvokeFunction(call)) => call.function_id,
            Next::Message(_) => "result".to_owned(),
            end => panic!("{end:?}"),
        });
    }
    assert_eq!(received[..5], ["result", "0", "one", "1", "2"]);
}
