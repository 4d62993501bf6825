//! The books of one conversation: which requests are open, under which id, and whose turn it is.
//!
//! The SDK knows ids that are strings or 64-bit integers, each in use once. Clients may send others:
//! those go under a name of ours, and the answer goes back under the id as the client wrote it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Serialize;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::Limits;
use super::books::{Batch, Books, Held, Open, Turn, same_id, to_json, under_its_id};
use super::outbox::{Outgoing, Room};
use crate::message::{Cancelled, INVALID_REQUEST, Refusal, Request};

/// Shared by the one who reads, the one who answers and the one who writes.
#[derive(Clone)]
pub struct Desk(Arc<Shared>);

struct Shared {
    limits: Limits,
    changed: Notify,
    // A std mutex: nothing awaits while it is held.
    books: Mutex<Books>,
}

impl Desk {
    /// Empty books.
    pub fn new(limits: Limits) -> Self {
        Self(Arc::new(Shared {
            limits,
            changed: Notify::new(),
            books: Mutex::default(),
        }))
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this client may have.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Completes when the books have changed since the last time. One waits at a time.
    pub fn changed(&self) -> Notified<'_> {
        self.0.changed.notified()
    }

    /// Whether another line may be read.
    pub fn has_room(&self) -> bool {
        let (books, limits) = (self.books(), &self.0.limits);
        books.room.count < limits.unanswered && books.room.bytes < limits.unanswered_bytes
    }

    /// Whether somebody still waits for an answer or has not taken it.
    pub fn is_busy(&self) -> bool {
        let books = self.books();
        let waits = |open: &Open| open.turn != Turn::Listen;
        books.unwritten > 0 || !books.held.is_empty() || books.open.values().any(waits)
    }

    /// Whether this client may send batches: only two old versions of the protocol have them.
    pub fn takes_batches(&self) -> bool {
        let books = self.books();
        let agreed = books.agreed.as_ref().map(ProtocolVersion::as_str);
        agreed.is_some_and(|agreed| agreed <= ProtocolVersion::V_2025_03_26.as_str())
    }

    /// Opens a batch of so many requests.
    pub fn open_batch(&self, requests: usize) -> u64 {
        let mut books = self.books();
        let number = books.number();
        let batch = Batch {
            left: requests,
            ..Batch::default()
        };
        books.batches.insert(number, batch);
        number
    }

    /// Takes a request, of so many bytes, to be handed out by [`Desk::next`].
    pub fn take(
        &self,
        request: Request,
        turn: Turn,
        bytes: usize,
        batch: Option<u64>,
    ) -> Result<(), Refusal> {
        let limits = &self.0.limits;
        let mut books = self.books();
        let listens = |open: &&Open| open.turn == Turn::Listen;
        if turn == Turn::Listen
            && books.open.values().filter(listens).count() >= limits.subscriptions
        {
            return Err(Refusal {
                id: Some(request.id),
                code: INVALID_REQUEST,
                message: format!(
                    "{} subscriptions are open on this connection; cancel one of them first",
                    limits.subscriptions
                ),
            });
        }
        let number = books.number();
        let id = books.free_id(&request.id, number);
        let open = Open {
            written_id: request.id,
            turn,
            number,
            bytes,
            batch,
            running: false,
        };
        books.room.count += 1;
        books.room.bytes += bytes;
        books.open.insert(id.clone(), open);
        books.held.push_back(Held {
            id,
            request: request.request,
            turn,
            number,
            until: Instant::now() + limits.order,
        });
        Ok(())
    }

    /// The next request whose turn it is; else when to look again, if it is a matter of time.
    pub fn next(&self) -> Result<ClientJsonRpcMessage, Option<Instant>> {
        let (mut books, limits) = (self.books(), &self.0.limits);
        if books.held.is_empty() {
            return Err(None);
        }
        let now = Instant::now();
        let full = books.running >= limits.running || books.unwritten >= limits.unwritten_bytes;
        let writes = books.open.values().filter(|open| open.turn == Turn::Write);
        let oldest_write = writes.map(|open| open.number).min();
        let may_start = |held: &Held| match held.turn {
            Turn::Any => true,
            _ if full => false,
            Turn::Write | Turn::Listen => true,
            Turn::Read => oldest_write.is_none_or(|write| held.number < write) || held.until <= now,
        };
        let Some(at) = books.held.iter().position(may_start) else {
            let later = |until: &Instant| *until > now;
            return Err(books.held.iter().map(|held| held.until).filter(later).min());
        };
        let Some(held) = books.held.remove(at) else {
            return Err(None);
        };
        let counts = matches!(held.turn, Turn::Read | Turn::Write);
        books.running += usize::from(counts);
        if let Some(open) = books.open.get_mut(&held.id) {
            open.running = counts;
        }
        Ok(ClientJsonRpcMessage::request(held.request, held.id))
    }

    /// Closes what the client no longer waits for; answers what the handler must be told, and the
    /// answer to a batch if nothing else was left of it.
    pub fn cancel(&self, cancelled: &Cancelled) -> (Vec<ClientJsonRpcMessage>, Vec<Outgoing>) {
        let mut books = self.books();
        let same = |open: &Open| same_id(&open.written_id, &cancelled.id);
        let ids = books.open.iter().filter(|(_, open)| same(open));
        let ids: Vec<_> = ids.map(|(id, _)| id.clone()).collect();
        let (mut tell, mut answers) = (Vec::new(), Vec::new());
        for id in ids {
            let waiting = books.held.iter().position(|held| held.id == id);
            let Some(open) = books.close(&id) else {
                continue;
            };
            if let Some(at) = waiting {
                books.held.remove(at);
            } else {
                let param = CancelledNotificationParam::new(Some(id), cancelled.reason.clone());
                let notification = CancelledNotification::new(param);
                tell.push(ClientJsonRpcMessage::notification(
                    ClientNotification::CancelledNotification(notification),
                ));
            }
            let room = Room {
                count: 1,
                bytes: open.bytes,
            };
            match open.batch {
                Some(batch) => answers.extend(books.batched(batch, None, room)),
                None => books.leave(room),
            }
        }
        drop(books);
        self.0.changed.notify_one();
        (tell, answers)
    }

    /// A refusal as a line, or as its part of a batch.
    pub fn refuse(&self, refusal: &Refusal, batch: Option<u64>) -> Option<Outgoing> {
        let mut books = self.books();
        books.room.count += 1;
        let room = Room { count: 1, bytes: 0 };
        match batch {
            Some(batch) => books.batched(batch, Some(refusal.to_json()), room),
            None => Some(books.line(refusal.to_json(), room)),
        }
    }

    /// What the handler says, as the client must hear it; none where it goes into a batch, or where
    /// nobody waits.
    pub fn answer(&self, message: ServerJsonRpcMessage) -> Option<Outgoing> {
        let answer = match message {
            JsonRpcMessage::Response(response) => {
                let open = self.books().close(&response.id)?;
                if let ServerResult::InitializeResult(result) = &response.result {
                    self.books().agreed = Some(result.protocol_version.clone());
                }
                self.finish(open, &response.id, "result", &response.result)
            }
            JsonRpcMessage::Error(error) => {
                let id = error.id?;
                let open = self.books().close(&id)?;
                self.finish(open, &id, "error", &error.error)
            }
            JsonRpcMessage::Notification(notification) => {
                let line = self.under_their_ids(to_json(&notification));
                self.notice(line)
            }
            JsonRpcMessage::Request(request) => {
                let line = to_json(&request);
                Some(self.books().line(line, Room::default()))
            }
        };
        self.0.changed.notify_one();
        answer
    }

    fn finish<T: Serialize>(
        &self,
        open: Open,
        id: &RequestId,
        member: &str,
        said: &T,
    ) -> Option<Outgoing> {
        let Open {
            written_id, bytes, ..
        } = open;
        let mut said = to_json(said);
        if open.turn == Turn::Listen {
            said = under_its_id(said, id, &written_id);
        }
        let line = format!(r#"{{"jsonrpc":"2.0","id":{written_id},"{member}":{said}}}"#);
        let room = Room { count: 1, bytes };
        let mut books = self.books();
        match open.batch {
            Some(batch) => books.batched(batch, Some(line), room),
            None => Some(books.line(line, room)),
        }
    }

    /// A subscription's notices name its request; they must name it as the client did.
    fn under_their_ids(&self, mut line: String) -> String {
        if line.contains("\"\\u0001") {
            for (id, open) in &self.books().open {
                line = under_its_id(line, id, &open.written_id);
            }
        }
        line
    }

    /// Said again before it was heard, a change is no news.
    fn notice(&self, line: String) -> Option<Outgoing> {
        let notice = ["list_changed\"", "\"notifications/resources/updated\""]
            .iter()
            .any(|method| line.contains(method));
        let mut books = self.books();
        if notice && !books.notices.insert(line.clone()) {
            return None;
        }
        let mut outgoing = books.line(line, Room::default());
        outgoing.notice = notice;
        Some(outgoing)
    }

    /// These are being written now: from here on the same notice is a new one.
    pub fn taken(&self, taken: &[Outgoing]) {
        if taken.iter().any(|out| out.notice) {
            let mut books = self.books();
            for out in taken.iter().filter(|out| out.notice) {
                books.notices.remove(&out.line);
            }
        }
    }

    /// These are written.
    pub fn written(&self, written: &[Outgoing]) {
        let mut books = self.books();
        for out in written {
            books.leave(out.answers);
            books.unwritten = books.unwritten.saturating_sub(out.line.len());
        }
        drop(books);
        self.0.changed.notify_one();
    }

    /// Nobody reads what we write.
    pub fn client_is_gone(&self) {
        self.books().gone = true;
        self.0.changed.notify_one();
    }

    /// Whether nobody reads what we write.
    pub fn is_client_gone(&self) -> bool {
        self.books().gone
    }

    /// The input cannot be read.
    pub fn reading_fails(&self, error: io::Error) {
        self.books().failed = Some(error);
    }

    /// Why the input could not be read.
    pub fn reading_failed(&self) -> Option<io::Error> {
        self.books().failed.take()
    }
}
