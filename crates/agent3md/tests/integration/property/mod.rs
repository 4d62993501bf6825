//! What must hold for any text. The property tests and the fuzz target share these files.

pub mod agreement;
pub mod soundness;
// The fuzzer generates texts of its own.
#[cfg(test)]
pub mod text;
