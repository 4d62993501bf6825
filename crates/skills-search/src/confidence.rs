//! How likely the best match is the right one, and whether any document serves the request at
//! all: two logistic functions whose coefficients are fitted by
//! `cargo run --release -p skills-search --example tune`.
//!
//! They are two because they answer two questions. Of ten skills that send e-mail, each is
//! unlikely to be the right one, and yet the request is served.

use crate::vectors;

/// What is known about the best match of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// The sum of similarity and share of words.
    pub best: f32,
    /// How much the sum is above that of the second match.
    pub margin: f32,
    /// The similarity of the vectors.
    pub similarity: f32,
    /// The share of the request's words that it has, weighted by how rare they are.
    pub share: f32,
    /// How many words of the request were looked up.
    pub words: f32,
}

/// The coefficients.
#[derive(Clone, Copy, Debug)]
pub struct Confidence {
    /// For [`Evidence::confidence_features`], the constant first.
    pub right: [f32; 6],
    /// For [`Evidence::relevance_features`], the constant first. The threshold is 0.
    pub relevant: [f32; 4],
    /// The fall of the sum by which a later match is less likely by a factor of e.
    pub fall: f32,
}

/// For requests that were compared by words and vectors.
const WITH_VECTORS: Confidence = Confidence {
    right: [-2.470, 0.798, 8.344, 0.927, -0.111, 0.192],
    // The constant is 0.05 lower than the fitted one, so that fewer requests which nothing serves get
    // an answer: see docs/search.md.
    relevant: [-7.388, 9.014, 6.843, 1.019],
    fall: 0.08,
};

/// For requests that were compared by words alone.
const WORDS_ONLY: Confidence = Confidence {
    right: [-4.624, 4.193, 16.224, 0.0, 3.221, 1.105],
    relevant: [-6.378, 0.0, 15.804, 2.097],
    fall: 0.03,
};

impl Confidence {
    /// The coefficients for requests that were compared by vectors, or by words alone.
    pub fn shipped(with_vectors: bool) -> Self {
        if with_vectors && vectors::ENABLED {
            WITH_VECTORS
        } else {
            WORDS_ONLY
        }
    }

    /// The probability that the best match is the right one.
    pub fn of(&self, evidence: &Evidence) -> f32 {
        let sum = weigh(&self.right, &evidence.confidence_features());
        1.0 / (1.0 + (-sum).exp())
    }

    /// Whether a document serves the request.
    pub fn is_relevant(&self, evidence: &Evidence) -> bool {
        weigh(&self.relevant, &evidence.relevance_features()) >= 0.0
    }

    /// The factor by which a match is less likely than the best, whose sum is higher by `behind`.
    pub(crate) fn falloff(&self, behind: f32) -> f32 {
        (-behind / self.fall).exp()
    }
}

fn weigh(coefficients: &[f32], values: &[f32]) -> f32 {
    let terms = coefficients.iter().skip(1).zip(values);
    coefficients[0] + terms.map(|(factor, value)| factor * value).sum::<f32>()
}

impl Evidence {
    /// What tells whether the best match is the right one.
    pub fn confidence_features(&self) -> [f32; 5] {
        let [similarity, share, length] = self.relevance_features();
        [self.best, self.margin, similarity, share, length]
    }

    /// What tells whether any document serves the request.
    pub fn relevance_features(&self) -> [f32; 3] {
        [self.similarity, self.share, (1.0 + self.words).ln()]
    }
}
