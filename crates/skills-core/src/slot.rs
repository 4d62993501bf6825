//! What a scope holds: under one key, and all of it at one moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agent3md::TriggerIndex;
use serde_json::value::RawValue;

use crate::{Json, Skill, Skipped};

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
    /// The text of the index of the rows, rendered once.
    pub index: OnceLock<Arc<str>>,
    /// The triggers of the rows, indexed once.
    pub triggers: OnceLock<TriggerIndex>,
    /// What surfaces made of the rows, by name.
    answers: Mutex<HashMap<&'static str, Arc<RawValue>>>,
}

impl<T> Snapshot<T> {
    pub(crate) fn new(rows: Vec<Arc<T>>, damaged: Vec<Skipped>) -> Self {
        Self {
            rows,
            damaged,
            index: OnceLock::new(),
            triggers: OnceLock::new(),
            answers: Mutex::default(),
        }
    }

    /// What was made of the rows under this name, if it was.
    pub(crate) fn answer(&self, name: &str) -> Option<Json> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(name).map(|answer| (**answer).to_owned())
    }

    /// Keeps it for the next who asks.
    pub(crate) fn keep_answer(&self, name: &'static str, answer: &RawValue) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.insert(name, Arc::from(answer.to_owned()));
    }
}

impl Snapshot<Skill> {
    /// The ids that are taken.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Arc<str>> {
        self.rows.iter().map(|skill| skill.id.shared())
    }
}
