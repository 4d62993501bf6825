//! Cuts a stream of bytes into lines of limited length.
//!
//! A line over the limit is reported once and the rest of it is discarded as it arrives, so memory
//! stays within the limit. Does not know what a line contains.

use std::borrow::Cow;
use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The whole line, without its line end.
    Whole(Cow<'a, [u8]>),
    /// A line over the limit.
    TooLong,
}

/// Cuts a stream into lines. [`feed`](Self::feed) works with any kind of I/O.
#[derive(Debug)]
pub struct Lines {
    max: usize,
    partial: Vec<u8>,
    skipping: bool,
}

impl Lines {
    /// Lines of up to `max` bytes.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            partial: Vec::new(),
            skipping: false,
        }
    }

    /// Takes bytes from the front of `bytes`; returns how many, and the line that they complete.
    /// A line that is complete in `bytes` is not copied.
    pub fn feed<'a>(&mut self, bytes: &'a [u8]) -> (usize, Option<Line<'a>>) {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        let used = part.len() + usize::from(end.is_some());
        if self.skipping {
            self.skipping = end.is_none();
            return (used, None);
        }
        // The byte after the limit may be the `\r` of a line end.
        if self.partial.len() + part.len() > self.max + 1 {
            self.partial = Vec::new();
            self.skipping = end.is_none();
            return (used, Some(Line::TooLong));
        }
        if end.is_some() && self.partial.is_empty() {
            return (used, Some(self.line(Cow::Borrowed(part))));
        }
        self.partial.extend_from_slice(part);
        (used, end.map(|_| self.complete()))
    }

    /// The last line, if the stream ended without a line end.
    pub fn finish(&mut self) -> Option<Line<'static>> {
        self.skipping = false;
        (!self.partial.is_empty()).then(|| self.complete())
    }

    /// The next line of a stream; `None` at its end. No bytes are lost if the future is dropped.
    pub async fn next<R: AsyncBufRead + Unpin>(
        &mut self,
        reader: &mut R,
    ) -> io::Result<Option<Line<'static>>> {
        loop {
            let bytes = match reader.fill_buf().await {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                return Ok(self.finish());
            }
            let (used, line) = self.feed(bytes);
            let line = line.map(Line::into_owned);
            reader.consume(used);
            if line.is_some() {
                return Ok(line);
            }
        }
    }

    fn complete(&mut self) -> Line<'static> {
        let line = std::mem::take(&mut self.partial);
        self.line(Cow::Owned(line))
    }

    fn line<'a>(&self, mut line: Cow<'a, [u8]>) -> Line<'a> {
        if line.last() == Some(&b'\r') {
            match &mut line {
                Cow::Borrowed(line) => *line = &line[..line.len() - 1],
                Cow::Owned(line) => line.truncate(line.len() - 1),
            }
        }
        if line.len() > self.max {
            return Line::TooLong;
        }
        Line::Whole(line)
    }
}

impl Line<'_> {
    fn into_owned(self) -> Line<'static> {
        match self {
            Self::Whole(line) => Line::Whole(Cow::Owned(line.into_owned())),
            Self::TooLong => Line::TooLong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(max: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::new(max);
        let mut found = Vec::new();
        for chunk in chunks {
            let mut rest = *chunk;
            while !rest.is_empty() {
                let (used, line) = lines.feed(rest);
                rest = &rest[used..];
                found.extend(line);
            }
        }
        found.extend(lines.finish());
        let text = |line| match line {
            Line::Whole(bytes) => String::from_utf8(bytes.into_owned()).unwrap(),
            Line::TooLong => "(too long)".to_owned(),
        };
        found.into_iter().map(text).collect()
    }

    #[track_caller]
    fn check(chunks: &[&[u8]], expected: &[&str]) {
        assert_eq!(cut(4, chunks), expected, "for {chunks:?}");
    }

    #[test]
    fn lines_of_up_to_four_bytes() {
        check(&[b"a\nb\n"], &["a", "b"]);
        check(&[b"a", b"b\n", b"c"], &["ab", "c"]);
        check(&[b"\n\r\n"], &["", ""]);
        check(&[b"abcd\r\nx"], &["abcd", "x"]);
        check(&[b"abcd\r"], &["abcd"]);
        check(&[b"abcde\nx\n"], &["(too long)", "x"]);
        check(&[b"abcde"], &["(too long)"]);
        check(&[b"abc", b"def", b"ghi", b"j\nx"], &["(too long)", "x"]);
        check(&[b"abcdef", b"ghi", b"\n", b"x"], &["(too long)", "x"]);
        check(&[b"abcdef", b"never ends"], &["(too long)"]);
        check(&[b"\xc3", b"\xa9\n"], &["é"]);
        check(&[], &[]);
    }

    #[test]
    fn only_a_line_in_pieces_is_copied() {
        let mut lines = Lines::new(4);
        let (_, whole) = lines.feed(b"a\r\nb");
        assert!(matches!(whole, Some(Line::Whole(Cow::Borrowed(b"a")))));
        lines.feed(b"b");
        let (_, pieces) = lines.feed(b"c\n");
        assert_eq!(pieces, Some(Line::Whole(Cow::Owned(b"bc".to_vec()))));
    }

    #[test]
    fn a_line_over_the_limit_uses_no_memory() {
        let mut lines = Lines::new(1000);
        for _ in 0..1000 {
            lines.feed(&[b'x'; 512]);
            assert!(lines.partial.capacity() <= 2048);
        }
    }
}
