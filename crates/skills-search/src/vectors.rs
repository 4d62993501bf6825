//! Static word vectors: the meaning of a text is the sum of the rows of its word pieces.
//!
//! The table is data (`data/`, with its licence and recipe; `word_rows.rs` reads it). Vectors of documents have eight bits
//! per dimension and are in one block, so that a request is compared with all of them in one pass
//! of integer products, which the compiler turns into vector instructions on every processor.

use crate::field::Field;
use crate::postings::Slot;
pub(crate) use crate::word_rows::WordRows;
use crate::word_rows::{DIMENSIONS, Meaning, Rows, Sum};

/// Whether there is a table.
pub(crate) const ENABLED: bool = true;

/// Products that are summed at once.
const RUN: usize = 16;

/// How much title with description, description and title count in the vector of a document.
const PARTS: [f32; 3] = [2.0 / 3.0, 1.0 / 3.0, 0.1];

/// A vector of eight bits per dimension.
pub(crate) struct Vector {
    values: [i8; DIMENSIONS],
    scale: f32,
}

#[expect(clippy::cast_possible_truncation, reason = "at most 127")]
fn quantize(sum: &Sum) -> Vector {
    let largest = sum
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let mut values = [0; DIMENSIONS];
    for (value, sum) in values.iter_mut().zip(sum) {
        // Rounded by hand: `round` is a call for each value on processors without an instruction.
        let scaled = sum * inverse;
        *value = (scaled + 0.5_f32.copysign(scaled)) as i8;
    }
    Vector { values, scale }
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
    pub(crate) fn insert(&mut self, slot: Slot, vector: &Vector) -> RowNumber {
        self.values.extend_from_slice(&vector.values);
        let scale = vector.scale;
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

/// What the parts of a document mean; what their words are is known from reading them.
#[derive(Default)]
pub(crate) struct DocumentMeaning {
    title: Rows,
    description: Rows,
    body: Rows,
}

impl DocumentMeaning {
    pub(crate) fn clear(&mut self) {
        let Self {
            title,
            description,
            body,
        } = self;
        [title, description, body].into_iter().for_each(Rows::clear);
    }

    /// Adds a word of a field. Only title, description and body count.
    pub(crate) fn add(&mut self, field: Field, rows: WordRows, word: &str) {
        match field {
            Field::Title => self.title.add(rows, word),
            Field::Description => self.description.add(rows, word),
            Field::Body | Field::Headings => self.body.add(rows, word),
            Field::Id | Field::Triggers | Field::Meaning => {}
        }
    }

    /// The vector of the document. `body_weight`: the share of the body.
    pub(crate) fn vector(&self, body_weight: f32) -> Vector {
        quantize(&self.sum(body_weight))
    }

    fn sum(&self, body_weight: f32) -> Sum {
        let [title, description, body] =
            [&self.title, &self.description, &self.body].map(Rows::sum);
        let mut both = Meaning::default();
        let sums = title.sum.iter().zip(&description.sum);
        for (sum, (title, description)) in both.sum.iter_mut().zip(sums) {
            *sum = title + description;
        }
        let mut all = Meaning::default();
        for (part, weight) in [&both, &description, &title].into_iter().zip(PARTS) {
            all.add_direction(part, weight);
        }
        if body_weight > 0.0 && body.length() > 0.0 {
            // A mixture, so that a document does not win by having a body.
            all.sum
                .iter_mut()
                .for_each(|value| *value *= 1.0 - body_weight);
            all.add_direction(&body, PARTS.iter().sum::<f32>() * body_weight);
        }
        all.sum
    }
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
        let all = Meaning::of(text);
        let length = all.length();
        if length <= 0.0 {
            return None;
        }
        let Vector { values, scale } = quantize(&all.sum);
        Some(Self {
            values: values.map(i16::from),
            scale: scale / length,
            length,
            words: words.iter().map(|word| Meaning::of(word).sum).collect(),
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
