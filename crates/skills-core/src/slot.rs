//! What a scope holds: under one key, and all of it at one moment.

use std::sync::{Arc, OnceLock};

use crate::Skipped;

/// What stands under a key.
#[derive(Debug)]
pub(crate) enum Slot<T> {
    Row(Arc<T>),
    /// A row that cannot be decoded, and why.
    Damaged(Arc<str>),
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Row(row) => Self::Row(Arc::clone(row)),
            Self::Damaged(problem) => Self::Damaged(Arc::clone(problem)),
        }
    }
}

impl<T: PartialEq> PartialEq for Slot<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Row(a), Self::Row(b)) => a == b,
            (Self::Damaged(a), Self::Damaged(b)) => a == b,
            _ => false,
        }
    }
}

/// Everything a scope holds at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot<T> {
    /// In byte order of their keys.
    pub rows: Vec<Arc<T>>,
    pub damaged: Vec<Skipped>,
    /// A text made of the rows, made once.
    pub rendered: OnceLock<Arc<str>>,
}
