//! The limits of this crate. `docs/limits.md` lists them.

/// Characters of a slug. A name with a longer one has none.
pub const SLUG_MAX: usize = 64;
/// Bytes of a command with its values. More is an error. Without values every command of a document
/// has fewer: a document has at most 5 MiB.
pub const MAX_COMMAND_BYTES: usize = 8_388_608;
