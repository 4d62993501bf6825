//! Prints the figures of the state store; filled in with the store itself.
fn main() {}
