//! Rows of `null`: what an update leaves of a row that another process has removed. They count as
//! no rows: `state::get` does not tell them from a key without a row.

use std::sync::Arc;

use super::Catalogue;
use crate::Failure;
use crate::row::Row;
use crate::state_scope::Expected;

impl<T: Row> Catalogue<T> {
    /// Whether the text of a row says that there is none.
    pub(super) fn is_null_row(text: &str) -> bool {
        T::IS_UPDATED && text == "null"
    }

    /// The keys of the rows of `null`, if state is in this process: lists of state have no keys.
    pub(crate) fn null_keys(&self) -> Result<Vec<Arc<str>>, Failure> {
        let mut keys = Vec::new();
        let mut visit = |(key, text): crate::engine::StoredRow<'_>| {
            if text.is_ok_and(Self::is_null_row) {
                keys.push(key.into());
            }
        };
        let visited = self.state.engine.for_each_row(&self.state.name, &mut visit);
        visited.unwrap_or(Ok(())).map(|()| keys)
    }

    /// Removes a row of `null`. What another instance writes meanwhile stays.
    pub(crate) async fn remove_null(&self, key: &Arc<str>) -> Result<(), Failure> {
        let _lock = self.key_locks.lock(key).await;
        if self.state.get(key).await?.is_some() {
            return Ok(());
        }
        match self.state.take_if(key, Some(Expected(None))).await {
            Ok(None) => Ok(()),
            // The engine does not compare, and another instance wrote in between.
            Ok(taken) => self.restore(key, taken, None).await,
            Err(failure) if failure.is_value_changed() => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}
