//! From bytes to lines: whatever the pieces they arrive in, and however long they get.

use std::io::{self, Read};

pub use crate::mcp::lines::LINE_MAX;

/// How much is read at once.
const CHUNK: usize = 65_536;
/// A buffer that grew for one long line is given back past this.
const KEEP: usize = 1_048_576;

/// One line of input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Without its line end.
    Text(&'a [u8]),
    /// More than [`LINE_MAX`]. Said once; the rest of it is passed over.
    TooLong,
}

/// Lines of an input.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What is in the buffer and not yet given out.
    start: usize,
    end: usize,
    /// Up to here there is no line end.
    searched: usize,
    /// Inside a line that is too long.
    discarding: bool,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            searched: 0,
            discarding: false,
        }
    }

    /// Waits for more input; answers whether there was any.
    pub fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.searched -= self.start;
        self.end -= self.start;
        self.start = 0;
        if self.end == 0 && self.buffer.len() > KEEP {
            self.buffer = vec![0; CHUNK];
        } else if self.buffer.len() - self.end < CHUNK {
            let larger = (self.buffer.len() * 2).max(self.end + CHUNK);
            self.buffer.resize(larger, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The next line that is all there.
    pub fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let fresh = &self.buffer[self.searched..self.end];
            let Some(length) = fresh.iter().position(|&byte| byte == b'\n') else {
                self.searched = self.end;
                return self.unfinished();
            };
            let line = self.start..self.searched + length;
            self.start = line.end + 1;
            self.searched = self.start;
            if std::mem::take(&mut self.discarding) {
                continue;
            }
            return Some(if line.len() > LINE_MAX {
                Line::TooLong
            } else {
                Line::Text(&self.buffer[line])
            });
        }
    }

    fn unfinished(&mut self) -> Option<Line<'_>> {
        if self.discarding {
            self.start = self.end;
            return None;
        }
        (self.end - self.start > LINE_MAX).then(|| {
            self.discarding = true;
            self.start = self.end;
            Line::TooLong
        })
    }

    /// What is left when the input has ended: a last line without a line end.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out its pieces one read at a time.
    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let mut piece = self.0.remove(0);
            let rest = piece.split_off(piece.len().min(into.len()));
            into[..piece.len()].copy_from_slice(&piece);
            if !rest.is_empty() {
                self.0.insert(0, rest);
            }
            Ok(piece.len())
        }
    }

    /// The lines of some pieces, long ones by their length, and then the rest.
    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(Pieces(pieces.iter().map(|piece| piece.to_vec()).collect()));
        let mut all = Vec::new();
        let shown = |bytes: &[u8]| match bytes.len() {
            0..100 => String::from_utf8_lossy(bytes).into_owned(),
            length => format!("{length} bytes"),
        };
        while lines.fill().unwrap() {
            while let Some(line) = lines.next() {
                all.push(match line {
                    Line::Text(text) => shown(text),
                    Line::TooLong => "too long".into(),
                });
            }
        }
        all.push(format!("rest: {}", shown(lines.rest())));
        all
    }

    #[track_caller]
    fn check(pieces: &[&[u8]], expected: &[&str]) {
        assert_eq!(lines(pieces), expected);
    }

    #[test]
    fn lines_are_whole_whatever_the_pieces() {
        check(&[], &["rest: "]);
        check(&[b"a\nb\n"], &["a", "b", "rest: "]);
        check(&[b"a", b"", b"never read"], &["rest: a"]);
        check(&[b"a\r\n\nb"], &["a\r", "", "rest: b"]);
        check(&[b"\xc3", b"\xa9\n"], &["é", "rest: "]);
    }

    #[test]
    fn a_line_at_the_limit_passes_and_a_longer_one_is_said_once() {
        let most = vec![b'a'; LINE_MAX];
        let at_limit = format!("{LINE_MAX} bytes");
        check(&[&most, b"\nb\n"], &[&at_limit, "b", "rest: "]);
        check(&[&most, b"a\nb\n"], &["too long", "b", "rest: "]);
        let huge = vec![b'a'; LINE_MAX * 2 + 1];
        check(
            &[&huge, b"tail that looks like a line", b"\nb\n"],
            &["too long", "b", "rest: "],
        );
        check(&[&huge, b"never ends"], &["too long", "rest: "]);
    }
}
