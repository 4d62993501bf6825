//! What the desk writes down: open requests, those whose turn has not come, batches.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::time::Instant;

use rmcp::model::{ClientRequest, ProtocolVersion, RequestId};
use serde::Serialize;

use super::outbox::{Outgoing, Room};

/// Begins the ids that we make up. No client has a reason to.
const OURS: char = '\u{1}';

/// What a request has to do with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Answered at once, whatever else there is.
    Any,
    /// Must see the writes before it.
    Read,
    /// What it does must be seen by the reads after it.
    Write,
    /// Stays open as long as the client likes.
    Listen,
}

#[derive(Default)]
pub struct Books {
    pub open: HashMap<RequestId, Open>,
    pub held: VecDeque<Held>,
    pub batches: HashMap<u64, Batch>,
    /// Made up ids, batches and requests are all numbered from here.
    pub last: u64,
    /// Requests whose answer is not written.
    pub room: Room,
    /// Requests that the handler has.
    pub running: usize,
    /// Bytes of lines that are not written.
    pub unwritten: usize,
    /// Notices that wait to be written.
    pub notices: HashSet<String>,
    pub agreed: Option<ProtocolVersion>,
    pub gone: bool,
    pub failed: Option<io::Error>,
}

pub struct Open {
    pub written_id: Box<str>,
    pub turn: Turn,
    pub number: u64,
    pub bytes: usize,
    pub batch: Option<u64>,
    pub running: bool,
}

pub struct Held {
    pub id: RequestId,
    pub request: ClientRequest,
    pub turn: Turn,
    pub number: u64,
    /// When it has waited long enough for the writes before it.
    pub until: Instant,
}

#[derive(Default)]
pub struct Batch {
    pub left: usize,
    pub answers: Vec<String>,
    pub room: Room,
}

impl Books {
    pub fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The client's id if the SDK can have it, else one of ours.
    pub fn free_id(&self, written: &str, number: u64) -> RequestId {
        let theirs = match serde_json::from_str::<String>(written) {
            Ok(text) if !text.starts_with(OURS) => Some(RequestId::String(text.into())),
            Ok(_) => None,
            Err(_) => written.parse().ok().map(RequestId::Number),
        };
        theirs
            .filter(|id| !self.open.contains_key(id))
            .unwrap_or_else(|| RequestId::String(format!("{OURS}{number}").into()))
    }

    pub fn close(&mut self, id: &RequestId) -> Option<Open> {
        let open = self.open.remove(id)?;
        self.running -= usize::from(open.running);
        Some(open)
    }

    pub fn leave(&mut self, room: Room) {
        self.room.count = self.room.count.saturating_sub(room.count);
        self.room.bytes = self.room.bytes.saturating_sub(room.bytes);
    }

    pub fn line(&mut self, line: String, answers: Room) -> Outgoing {
        self.unwritten += line.len();
        Outgoing {
            line,
            answers,
            notice: false,
        }
    }

    /// One of a batch is done; answers the whole batch when it was the last.
    pub fn batched(&mut self, number: u64, answer: Option<String>, room: Room) -> Option<Outgoing> {
        let batch = self.batches.get_mut(&number)?;
        batch.left -= 1;
        batch.answers.extend(answer);
        batch.room.count += room.count;
        batch.room.bytes += room.bytes;
        if batch.left > 0 {
            return None;
        }
        let batch = self.batches.remove(&number)?;
        if batch.answers.is_empty() {
            self.leave(batch.room);
            return None;
        }
        Some(self.line(format!("[{}]", batch.answers.join(",")), batch.room))
    }
}

pub fn to_json<T: Serialize>(said: &T) -> String {
    serde_json::to_string(said).unwrap_or_else(|error| {
        tracing::error!(%error, "an answer cannot be written as JSON");
        "null".to_owned()
    })
}

/// Ids that are written differently may be the same string.
pub fn same_id(one: &str, other: &str) -> bool {
    let text = |id| serde_json::from_str::<String>(id).ok();
    one == other || text(one).is_some_and(|one| Some(one) == text(other))
}

pub fn under_its_id(line: String, id: &RequestId, written: &str) -> String {
    match id {
        RequestId::String(id) if id.starts_with(OURS) => line.replace(&to_json(id), written),
        _ => line,
    }
}
