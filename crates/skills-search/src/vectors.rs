//! Static word vectors: the meaning of a text is the sum of the rows of its word pieces.
//!
//! The table is data (`data/`, with its licence and recipe). Vectors of documents have eight bits
//! per dimension and are in one block, so that a request is compared with all of them in one pass
//! of integer products, which the compiler turns into vector instructions on every processor.

use std::sync::OnceLock;

use crate::document::Document;
use crate::limits::MAX_VECTOR_BODY_BYTES;
use crate::postings::Slot;
use crate::stem::{Language, Script};
use crate::words::{Word, for_each_word};

/// Whether there is a table.
pub(crate) const ENABLED: bool = true;

const DIMENSIONS: usize = 256;
const ROWS: &[u8] = include_bytes!("../data/vectors-256.i8");
const SCALES: &[u8] = include_bytes!("../data/scales-256.f32");
const VOCABULARY: &str = include_str!("../data/vocab.txt");

/// Products that are summed at once.
const RUN: usize = 16;

/// A slot of the hash table without a token.
const EMPTY: u16 = u16::MAX;

/// How much title with description, description and title count in the vector of a document.
const PARTS: [f32; 3] = [2.0 / 3.0, 1.0 / 3.0, 0.1];

type Sum = [f32; DIMENSIONS];

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

/// A sum of rows.
struct Meaning {
    sum: Sum,
}

impl Meaning {
    fn new() -> Self {
        Self {
            sum: [0.0; DIMENSIONS],
        }
    }

    fn add_text(&mut self, text: &str) {
        for_each_word(text, |word| self.add_word(word));
    }

    /// The table is English. Rows of other scripts would add noise.
    fn add_word(&mut self, word: Word<'_>) {
        if word.joined || word.script != Script::Stemmed(Language::English) {
            return;
        }
        table().pieces(word.text, |row| {
            let scale = &SCALES[4 * row..4 * row + 4];
            let scale = f32::from_le_bytes(scale.try_into().unwrap_or_default());
            let values = &ROWS[DIMENSIONS * row..DIMENSIONS * (row + 1)];
            for (sum, &value) in self.sum.iter_mut().zip(values) {
                *sum += scale * f32::from(value.cast_signed());
            }
        });
    }

    /// Adds `weight` times the direction of another sum.
    fn add_direction(&mut self, other: &Self, weight: f32) {
        let length = other.length();
        if length > 0.0 {
            let pairs = self.sum.iter_mut().zip(&other.sum);
            pairs.for_each(|(sum, value)| *sum += weight * value / length);
        }
    }

    fn length(&self) -> f32 {
        self.sum
            .iter()
            .map(|value| value * value)
            .sum::<f32>()
            .sqrt()
    }
}

/// A vector of eight bits per dimension.
struct Quantized {
    values: [i8; DIMENSIONS],
    scale: f32,
}

#[expect(clippy::cast_possible_truncation, reason = "rounded, and at most 127")]
fn quantize(sum: &Sum) -> Quantized {
    let largest = sum
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let mut values = [0; DIMENSIONS];
    for (value, sum) in values.iter_mut().zip(sum) {
        *value = (sum * inverse).round() as i8;
    }
    Quantized { values, scale }
}

/// The vectors of all documents, in one block.
#[derive(Default)]
pub(crate) struct Vectors {
    values: Vec<i8>,
    rows: Vec<Row>,
}

struct Row {
    slot: Slot,
    scale: f32,
}

/// The number of a document's vector.
pub(crate) type RowNumber = u32;

impl Vectors {
    /// Adds the vector of a document. Returns its number.
    pub(crate) fn insert(&mut self, slot: Slot, document: &Document<'_>, body: f32) -> RowNumber {
        let Quantized { values, scale } = quantize(&document_sum(document, body));
        self.values.extend(values);
        self.rows.push(Row { slot, scale });
        u32::try_from(self.rows.len() - 1).expect("fewer than 4 Gi documents")
    }

    /// Removes a vector. Returns the document whose vector has its number now.
    pub(crate) fn remove(&mut self, row: RowNumber) -> Option<Slot> {
        let row = row as usize;
        let last = self.rows.len() - 1;
        self.rows.swap_remove(row);
        let at = |row: usize| DIMENSIONS * row..DIMENSIONS * (row + 1);
        self.values.copy_within(at(last), at(row).start);
        self.values.truncate(DIMENSIONS * last);
        self.rows.get(row).map(|row| row.slot)
    }

    /// Gives every document its new slot.
    pub(crate) fn renumber(&mut self, new_slot: impl Fn(Slot) -> Slot) {
        for row in &mut self.rows {
            row.slot = new_slot(row.slot);
        }
    }

    /// Visits the similarity of a request and every document.
    pub(crate) fn for_each(&self, request: &RequestVector, mut visit: impl FnMut(Slot, f32)) {
        let (vectors, _) = self.values.as_chunks::<DIMENSIONS>();
        for (values, row) in vectors.iter().zip(&self.rows) {
            visit(row.slot, request.similarity(values, row.scale));
        }
    }

    /// How much each word of a request adds to its similarity with one document.
    pub(crate) fn contributions(&self, request: &RequestVector, row: RowNumber) -> Vec<f32> {
        let row = row as usize;
        let values = &self.values[DIMENSIONS * row..DIMENSIONS * (row + 1)];
        let scale = self.rows[row].scale / request.length;
        let share = |sum: &Sum| {
            let products = sum.iter().zip(values);
            products.map(|(a, &b)| a * f32::from(b)).sum::<f32>() * scale
        };
        request.words.iter().map(share).collect()
    }
}

fn document_sum(document: &Document<'_>, body_weight: f32) -> Sum {
    let mut title = Meaning::new();
    title.add_text(document.title);
    let mut description = Meaning::new();
    description.add_text(document.description);
    let mut both = Meaning::new();
    for (sum, values) in both
        .sum
        .iter_mut()
        .zip(title.sum.iter().zip(&description.sum))
    {
        *sum = values.0 + values.1;
    }
    let mut all = Meaning::new();
    for (part, weight) in [&both, &description, &title].into_iter().zip(PARTS) {
        all.add_direction(part, weight);
    }
    if body_weight > 0.0 && !document.body.is_empty() {
        let body = body_meaning(document);
        if body.length() > 0.0 {
            // A mixture, so that a document does not win by having a body.
            all.sum
                .iter_mut()
                .for_each(|value| *value *= 1.0 - body_weight);
            all.add_direction(&body, PARTS.iter().sum::<f32>() * body_weight);
        }
    }
    all.sum
}

/// The meaning of what the body adds: most bodies begin with the words of title and description.
fn body_meaning(document: &Document<'_>) -> Meaning {
    let mut known = String::new();
    for text in [document.title, document.description] {
        for_each_word(text, |word| {
            known.push_str(word.text);
            known.push('\n');
        });
    }
    let mut known = known.lines().peekable();
    let mut body = Meaning::new();
    for_each_word(opening(document.body), |word| {
        if known.next_if_eq(&word.text).is_none() {
            body.add_word(word);
        }
    });
    body
}

/// The beginning of a body that its vector is made of.
fn opening(body: &str) -> &str {
    let mut end = MAX_VECTOR_BODY_BYTES.min(body.len());
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    &body[..end]
}

/// The vector of a request.
pub(crate) struct RequestVector {
    /// Sixteen bits, so that the products need no conversion.
    values: [i16; DIMENSIONS],
    scale: f32,
    length: f32,
    /// By word of the request: its own sum.
    words: Vec<Sum>,
}

impl RequestVector {
    /// The vector of a request; none without a word that the table has. `words`: the words whose
    /// contributions may be asked for.
    pub(crate) fn of(text: &str, words: &[String]) -> Option<Self> {
        let mut all = Meaning::new();
        all.add_text(text);
        let length = all.length();
        if length <= 0.0 {
            return None;
        }
        let Quantized { values, scale } = quantize(&all.sum);
        let of_word = |word: &String| {
            let mut meaning = Meaning::new();
            meaning.add_text(word);
            meaning.sum
        };
        Some(Self {
            values: values.map(i16::from),
            scale: scale / length,
            length,
            words: words.iter().map(of_word).collect(),
        })
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "at most 256 * 127 * 127, which is exact"
    )]
    fn similarity(&self, values: &[i8; DIMENSIONS], scale: f32) -> f32 {
        let dot = dot(&self.values, values);
        dot as f32 * (self.scale * scale)
    }
}

/// The scalar product. Widening first and summing short runs of a fixed length makes the compiler
/// use the instruction that multiplies and adds eight pairs: three times as fast as a plain sum.
/// With iterators, or inlined into another loop, it does not.
#[inline(never)]
fn dot(a: &[i16; DIMENSIONS], b: &[i8; DIMENSIONS]) -> i32 {
    let mut wide = [0_i16; DIMENSIONS];
    for at in 0..DIMENSIONS {
        wide[at] = i16::from(b[at]);
    }
    let mut total = 0;
    for run in 0..DIMENSIONS / RUN {
        let mut sum = 0;
        for at in RUN * run..RUN * (run + 1) {
            sum += i32::from(a[at]) * i32::from(wide[at]);
        }
        total += sum;
    }
    total
}
