//! The limits of this crate. `docs/limits.md` lists them.

/// Distinct terms of a request that are looked up. The most frequent ones of a longer request are
/// left out.
pub const MAX_REQUEST_TERMS: usize = 64;
/// Letters that a request compares to find words that are near to its unknown ones.
pub const MAX_COMPARED_LETTERS: usize = 8_000_000;
/// Bytes of a request that are read. The rest is ignored.
pub const MAX_REQUEST_BYTES: usize = 262_144;
/// Bytes of a word that is indexed. A longer one is left out: it is encoded data, not a word.
pub const MAX_WORD_BYTES: usize = 64;
/// Bytes at the beginning of a body that its vector is made of.
pub const MAX_VECTOR_BODY_BYTES: usize = 512;
