//! The value of one key, and all values of a scope at one moment.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::value::RawValue;

use crate::index::Lines;
use crate::lease::LeaseMarks;
use crate::registry::IndexMarks;
use crate::{FunctionId, Json, Skill, Skipped};

/// The value of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum RowSlot<T> {
    Row(Arc<T>),
    /// A row that cannot be decoded, and the reason.
    Damaged(Arc<str>),
}

// Derived, it would require `T: Clone`.
impl<T> Clone for RowSlot<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Row(row) => Self::Row(Arc::clone(row)),
            Self::Damaged(problem) => Self::Damaged(Arc::clone(problem)),
        }
    }
}

/// An encoded list, and the marks of leases in it.
type Encoded = (Option<Arc<LeaseMarks>>, Arc<RawValue>);

/// The rows of a scope at one moment, and what is derived from them once.
#[derive(Debug)]
pub(crate) struct Snapshot<T> {
    /// In byte order of their keys.
    pub rows: Vec<Arc<T>>,
    /// Rows that are turned off.
    pub off: Vec<Arc<T>>,
    pub damaged: Vec<Skipped>,
    /// The lines of the index of the rows, and their marks.
    index_lines: Mutex<Option<(IndexMarks, Arc<Lines>)>>,
    /// The text of the index, if it has no other lines.
    pub index: OnceLock<Arc<str>>,
    /// The functions that the rows call.
    pub functions: OnceLock<Arc<HashSet<FunctionId>>>,
    /// Encoded lists of the rows, by the name of the list.
    encoded: Mutex<HashMap<&'static str, Encoded>>,
}

impl<T> Snapshot<T> {
    pub(crate) fn new(rows: Vec<Arc<T>>, off: Vec<Arc<T>>, damaged: Vec<Skipped>) -> Self {
        Self {
            rows,
            off,
            damaged,
            index_lines: Mutex::default(),
            index: OnceLock::new(),
            functions: OnceLock::new(),
            encoded: Mutex::default(),
        }
    }

    /// The lines of the index with these marks, rendered once until the marks change.
    pub(crate) fn index_lines(
        &self,
        marks: &IndexMarks,
        render: impl FnOnce() -> Lines,
    ) -> Arc<Lines> {
        let mut kept = self
            .index_lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((marked, lines)) if marked == marks => Arc::clone(lines),
            _ => {
                let lines = Arc::new(render());
                *kept = Some((marks.clone(), Arc::clone(&lines)));
                lines
            }
        }
    }

    /// The list that was kept under this name with the same marks of leases.
    pub(crate) fn encoded(&self, name: &str, leases: Option<&Arc<LeaseMarks>>) -> Option<Json> {
        let encoded = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        let (marked, json) = encoded.get(name)?;
        let is_same = match (marked, leases) {
            (None, None) => true,
            (Some(marked), Some(leases)) => Arc::ptr_eq(marked, leases),
            _ => false,
        };
        is_same.then(|| (**json).to_owned())
    }

    pub(crate) fn keep_encoded(
        &self,
        name: &'static str,
        leases: Option<Arc<LeaseMarks>>,
        json: &RawValue,
    ) {
        let mut encoded = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        encoded.insert(name, (leases, Arc::from(json.to_owned())));
    }
}

impl Snapshot<Skill> {
    /// The ids of every row, also of those that are turned off.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Arc<str>> + '_ {
        let skills = self.rows.iter().chain(&self.off);
        skills.map(|skill| skill.id.shared())
    }
}
