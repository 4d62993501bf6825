//! The `skills` binary.

fn main() {}
