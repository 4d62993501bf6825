//! What must hold for any text at all. The property tests and the fuzz targets share this file.

#![allow(
    dead_code,
    reason = "each test binary and fuzz target uses a part of this"
)]

pub mod agreement;
pub mod soundness;
// The fuzzer brings texts of its own.
#[cfg(test)]
pub mod text;
