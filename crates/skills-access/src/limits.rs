//! The limits of this crate. `docs/limits.md` lists them.

/// Bytes of a token. A longer one is an error: it would not fit into the headers of a request.
pub const MAX_TOKEN_BYTES: usize = 4096;
