//! The table of word vectors: one row for each word piece, and sums of rows.

use std::hint::black_box;
use std::sync::{LazyLock, OnceLock};

use fearless_simd::{Level, Simd, dispatch};

use crate::stem::{Language, Script};
use crate::words::{Word, for_each_word};

pub(crate) const DIMENSIONS: usize = 256;
const ROWS: &[u8] = &Aligned(*include_bytes!("../data/vectors-256.i8")).0;
const SCALES: &[u8] = include_bytes!("../data/scales-256.f32");
const VOCABULARY: &str = include_str!("../data/vocab.txt");

/// No row begins in the middle of a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

/// A slot of the hash table without a token.
const EMPTY: u16 = u16::MAX;

/// Dimensions that are summed at once.
const AT_ONCE: usize = 64;

/// Bytes that the processor reads from memory at once.
const CACHE_LINE: usize = 64;

/// Squares that are summed beside each other.
const LANES: usize = 16;

pub(crate) type Sum = [f32; DIMENSIONS];
type Row = [u8; DIMENSIONS];

/// The vocabulary as a hash table of the numbers of its lines.
struct Table {
    tokens: Vec<&'static str>,
    slots: Vec<u16>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let tokens: Vec<&str> = VOCABULARY.lines().collect();
        let mut table = Table {
            slots: vec![EMPTY; 1 << 16],
            tokens: Vec::new(),
        };
        for (number, token) in (0..EMPTY).zip(&tokens) {
            // Tokens in brackets have no meaning of their own.
            if token.starts_with('[') && token.len() > 1 {
                continue;
            }
            let (continues, text) = match token.strip_prefix("##") {
                Some(text) if !text.is_empty() => (true, text),
                _ => (false, *token),
            };
            let mut slot = hash(continues, text);
            while table.slots[slot] != EMPTY {
                slot = (slot + 1) % table.slots.len();
            }
            table.slots[slot] = number;
        }
        table.tokens = tokens;
        table
    })
}

/// FNV-1a, folded to the size of the table.
fn hash(continues: bool, text: &str) -> usize {
    let start: u32 = if continues { 0x9E37_79B9 } else { 0x811C_9DC5 };
    let step = |hash: u32, &byte: &u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = text.as_bytes().iter().fold(start, step);
    ((hash >> 16) ^ (hash & 0xFFFF)) as usize
}

impl Table {
    fn find(&self, continues: bool, text: &str) -> Option<usize> {
        let mut slot = hash(continues, text);
        loop {
            let number = self.slots[slot];
            if number == EMPTY {
                return None;
            }
            let token = self.tokens[usize::from(number)];
            let is_same = if continues {
                token.strip_prefix("##") == Some(text)
            } else {
                token == text
            };
            if is_same {
                return Some(usize::from(number));
            }
            slot = (slot + 1) % self.slots.len();
        }
    }

    /// Visits the rows of the longest pieces of a word; none if a piece is unknown.
    fn pieces(&self, word: &str, mut visit: impl FnMut(usize)) {
        let mut pieces = [0_usize; crate::limits::MAX_WORD_BYTES];
        let mut found = 0;
        let mut rest = word;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let piece = |end: usize| Some((self.find(found > 0, &rest[..end])?, end));
            let Some((row, end)) = ends.into_iter().find_map(piece) else {
                return;
            };
            let Some(free) = pieces.get_mut(found) else {
                return;
            };
            *free = row;
            found += 1;
            rest = &rest[end..];
        }
        pieces[..found].iter().for_each(|&row| visit(row));
    }
}

/// The rows of a word, in the two bytes that the dictionary keeps for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordRows(u16);

impl WordRows {
    /// No row: the word is unknown or in another script.
    pub(crate) const NONE: Self = Self(u16::MAX);
    /// More than one row, which are looked up again: the word is rare.
    const SEVERAL: Self = Self(u16::MAX - 1);

    /// Whether they are looked up again, by the word.
    pub(crate) fn need_word(self) -> bool {
        self == Self::SEVERAL
    }

    /// The rows of a word. The table is English: rows of other scripts would add noise.
    pub(crate) fn of(word: Word<'_>) -> Self {
        if word.script != Script::Stemmed(Language::English) {
            return Self::NONE;
        }
        let mut rows = Self::NONE;
        table().pieces(word.text, |row| {
            rows = match (rows, u16::try_from(row)) {
                (Self::NONE, Ok(row)) => Self(row),
                _ => Self::SEVERAL,
            };
        });
        rows
    }
}

/// The rows of a text.
#[derive(Default)]
pub(crate) struct Rows(Vec<u16>);

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a word whose rows are known.
    pub(crate) fn add(&mut self, rows: WordRows, word: &str) {
        match rows {
            WordRows::NONE => {}
            WordRows::SEVERAL => table().pieces(word, |row| self.0.extend(u16::try_from(row))),
            WordRows(row) => self.0.push(row),
        }
    }

    /// Their sum.
    pub(crate) fn sum(&self) -> Meaning {
        static LEVEL: LazyLock<Level> = LazyLock::new(Level::new);
        let (scales, _) = SCALES.as_chunks::<4>();
        let (rows, _) = ROWS.as_chunks::<DIMENSIONS>();
        let rows = self.0.iter().filter_map(|&row| {
            let row = usize::from(row);
            let scale = f32::from_le_bytes(*scales.get(row)?);
            Some((rows.get(row)?, scale))
        });
        let rows: Vec<_> = rows.collect();
        bring_near(&rows);
        let mut meaning = Meaning::default();
        dispatch!(*LEVEL, simd => sum_rows(simd, &rows, &mut meaning.sum));
        meaning
    }
}

/// Reads a byte of each cache line of rows, which are anywhere in the table: the processor waits for
/// the memory of many of them at once, and not for one after the other while they are summed.
fn bring_near(rows: &[(&Row, f32)]) {
    let lines = rows
        .iter()
        .flat_map(|(row, _)| row.iter().step_by(CACHE_LINE));
    black_box(lines.fold(0, |all, byte| all ^ byte));
}

/// Sums rows, with the widest instructions that the processor has. A few dimensions of all rows,
/// then the next ones: these sums stay in registers.
#[expect(
    clippy::inline_always,
    reason = "it is compiled once for each kind of processor"
)]
#[inline(always)]
fn sum_rows<S: Simd>(_: S, rows: &[(&Row, f32)], all: &mut Sum) {
    let (sums, _) = all.as_chunks_mut::<AT_ONCE>();
    for (number, result) in sums.iter_mut().enumerate() {
        let mut sum = [0.0; AT_ONCE];
        for (row, scale) in rows {
            let values = &row.as_chunks().0[number];
            add_scaled(&mut sum, *scale, values);
        }
        *result = sum;
    }
}

/// A sum of rows.
pub(crate) struct Meaning {
    pub(crate) sum: Sum,
}

impl Default for Meaning {
    fn default() -> Self {
        Self {
            sum: [0.0; DIMENSIONS],
        }
    }
}

impl Meaning {
    pub(crate) fn of(text: &str) -> Self {
        let mut rows = Rows::default();
        for_each_word(text, |word| {
            if !word.joined {
                rows.add(WordRows::of(word), word.text);
            }
        });
        rows.sum()
    }

    /// Adds `weight` times the direction of another sum.
    pub(crate) fn add_direction(&mut self, other: &Self, weight: f32) {
        let length = other.length();
        if length > 0.0 {
            let factor = weight / length;
            let pairs = self.sum.iter_mut().zip(&other.sum);
            pairs.for_each(|(sum, value)| *sum += factor * value);
        }
    }

    pub(crate) fn length(&self) -> f32 {
        let (runs, _) = self.sum.as_chunks::<LANES>();
        // Sums beside each other: one sum would wait for each of its additions.
        let mut squares = [0.0; LANES];
        for run in runs {
            for (square, value) in squares.iter_mut().zip(run) {
                *square += value * value;
            }
        }
        squares.iter().sum::<f32>().sqrt()
    }
}

#[expect(
    clippy::inline_always,
    reason = "it is compiled once for each kind of processor"
)]
#[inline(always)]
fn add_scaled(sum: &mut [f32; AT_ONCE], scale: f32, values: &[u8; AT_ONCE]) {
    for at in 0..AT_ONCE {
        sum[at] += scale * f32::from(values[at].cast_signed());
    }
}
