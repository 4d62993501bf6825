//! The loop between an input and an output: reads, answers, writes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::served::Served;
use super::session::Session;
use crate::lines::{LINE_MAX, Line, Lines};

/// How much is read at once.
const CHUNK: usize = 65_536;
/// Answers are written once this much has gathered, or when no more input is waiting.
const GATHERED: usize = 65_536;
/// A buffer that grew for one long answer is given back past this.
const KEEP: usize = 1_048_576;

/// A session on an output, shared by the thread that reads and the one that sees the document
/// change.
#[derive(Debug)]
pub struct Server<W>(Mutex<Talk<W>>);

#[derive(Debug)]
struct Talk<W> {
    session: Session,
    gathered: Vec<u8>,
    output: W,
}

impl<W: Write> Server<W> {
    /// A session about a document on an output.
    pub fn new(served: Arc<Served>, output: W) -> Self {
        Self(Mutex::new(Talk {
            session: Session::new(served),
            gathered: Vec::new(),
            output,
        }))
    }

    /// Answers every line until the input ends; the last one needs no line end.
    pub fn run(&self, input: impl Read) -> io::Result<()> {
        let mut input = BufReader::with_capacity(CHUNK, input);
        let mut lines = Lines::new(LINE_MAX);
        loop {
            let mut bytes = match input.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = bytes.len();
            // Held while answering, never while waiting for input.
            let mut talk = self.talk();
            while !bytes.is_empty() {
                let (used, line) = lines.feed(bytes);
                bytes = &bytes[used..];
                if let Some(line) = line {
                    talk.take(&line)?;
                }
            }
            talk.write()?;
            input.consume(read);
        }
        let mut talk = self.talk();
        if let Some(line) = lines.finish() {
            talk.take(&line)?;
        }
        let Talk {
            session, gathered, ..
        } = &mut *talk;
        session.finish(gathered);
        talk.write()
    }

    /// Goes on with another document and tells the client.
    pub fn replace(&self, served: Arc<Served>) -> io::Result<()> {
        let mut talk = self.talk();
        let Talk {
            session, gathered, ..
        } = &mut *talk;
        session.replace(served, gathered);
        talk.write()
    }

    fn talk(&self) -> MutexGuard<'_, Talk<W>> {
        // A session is whole between lines, whatever happened to another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> Talk<W> {
    fn take(&mut self, line: &Line<'_>) -> io::Result<()> {
        match line {
            Line::Whole(text) => self.session.answer(text, &mut self.gathered),
            Line::TooLong => Session::too_long(&mut self.gathered),
        }
        if self.gathered.len() < GATHERED {
            return Ok(());
        }
        self.write()
    }

    /// Waits until the client has taken everything: this is what holds back one that does not read.
    fn write(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        self.output.write_all(&self.gathered)?;
        self.output.flush()?;
        self.gathered.clear();
        if self.gathered.capacity() > KEEP {
            self.gathered = Vec::new();
        }
        Ok(())
    }
}
