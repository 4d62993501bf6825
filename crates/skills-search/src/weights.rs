//! What counts how much. The figures are from `cargo run --release -p skills-search --example tune`.

use crate::field::FIELDS;

/// How much a field counts.
#[derive(Clone, Copy, Debug)]
pub struct FieldWeight {
    /// The weight of one occurrence of a word.
    pub boost: f32,
    /// How much a long field counts less, from 0 to 1: the `b` of BM25.
    pub length: f32,
}

/// What counts how much.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// By field: id, title, description, triggers, headings, body.
    pub fields: [FieldWeight; FIELDS],
    /// How slowly repeated words stop to count: the `k1` of BM25.
    pub saturation: f32,
    /// How much the words count beside the vectors.
    pub words: f32,
    /// How much a word counts that is only similar to a word of the request.
    pub near: f32,
    /// The share of the body in the vector of a document.
    pub vector_body: f32,
}

impl Default for Weights {
    fn default() -> Self {
        let field = |boost, length| FieldWeight { boost, length };
        Self {
            fields: [
                field(0.25, 0.2),
                field(1.5, 0.2),
                field(1.0, 0.2),
                field(2.0, 0.3),
                field(0.6, 0.3),
                field(0.3, 0.5),
            ],
            saturation: 2.0,
            words: 1.3,
            near: 0.4,
            vector_body: 0.3,
        }
    }
}
