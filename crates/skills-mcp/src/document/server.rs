//! The loop between an input and an output: reads lines, writes responses.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::served_agent::ServedAgent;
use super::session::Session;
use crate::limits::LINE_MAX;
use crate::lines::{Line, Lines};

/// How much is read at once.
const READ_BUFFER: usize = 65_536;
/// Responses are written when there are this many bytes, or when no more input is waiting.
const WRITE_SIZE: usize = 65_536;
/// A larger buffer, after one long response, is freed.
const BUFFER_MAX: usize = 1_048_576;

/// A session and its output, shared by the thread that reads requests and the thread that reloads
/// the document.
#[derive(Debug)]
pub struct Server<W>(Mutex<Connection<W>>);

#[derive(Debug)]
struct Connection<W> {
    session: Session,
    responses: Vec<u8>,
    output: W,
}

impl<W: Write> Server<W> {
    /// A session about an agent, with its output.
    pub fn new(agent: Arc<ServedAgent>, output: W) -> Self {
        Self(Mutex::new(Connection {
            session: Session::new(agent),
            responses: Vec::new(),
            output,
        }))
    }

    /// Responds to every line until the input ends. The last line needs no line end.
    pub fn run(&self, input: impl Read) -> io::Result<()> {
        let mut input = BufReader::with_capacity(READ_BUFFER, input);
        let mut lines = Lines::new(LINE_MAX);
        loop {
            let mut bytes = match input.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = bytes.len();
            // Locked while responding, never while waiting for input.
            let mut connection = self.lock();
            while !bytes.is_empty() {
                let (used, line) = lines.feed(bytes);
                bytes = &bytes[used..];
                if let Some(line) = line {
                    connection.respond(&line)?;
                }
            }
            connection.write()?;
            input.consume(read);
        }
        let mut connection = self.lock();
        if let Some(line) = lines.finish() {
            connection.respond(&line)?;
        }
        let Connection {
            session, responses, ..
        } = &mut *connection;
        session.finish(responses);
        connection.write()
    }

    /// Serves another agent from now on, and notifies the client.
    pub fn replace(&self, agent: Arc<ServedAgent>) -> io::Result<()> {
        let mut connection = self.lock();
        let Connection {
            session, responses, ..
        } = &mut *connection;
        session.replace(agent, responses);
        connection.write()
    }

    fn lock(&self) -> MutexGuard<'_, Connection<W>> {
        // A session is consistent between lines, even after a panic in another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> Connection<W> {
    fn respond(&mut self, line: &Line<'_>) -> io::Result<()> {
        match line {
            Line::Whole(text) => self.session.respond(text, &mut self.responses),
            Line::TooLong => Session::too_long(&mut self.responses),
        }
        if self.responses.len() < WRITE_SIZE {
            return Ok(());
        }
        self.write()
    }

    /// Blocks until the client has read enough: the back-pressure on a client that does not read.
    fn write(&mut self) -> io::Result<()> {
        if self.responses.is_empty() {
            return Ok(());
        }
        self.output.write_all(&self.responses)?;
        self.output.flush()?;
        self.responses.clear();
        if self.responses.capacity() > BUFFER_MAX {
            self.responses = Vec::new();
        }
        Ok(())
    }
}
