//! The SQLite store as the hub's state.

use std::error::Error as _;

use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::value::RawValue;

use super::port::{Change, Pending, StateStore, StoreError, Updated};
use crate::state::{StateChange, StateError, Store};

impl StateStore for Store {
    fn set(
        &self,
        scope: String,
        key: String,
        value: Box<RawValue>,
    ) -> Pending<Result<Option<Box<RawValue>>, StoreError>> {
        let written = self.set(scope, key, value);
        Box::pin(async move { written.await.map_err(StoreError::from) })
    }

    fn get(&self, scope: &str, key: &str) -> Result<Option<Box<RawValue>>, StoreError> {
        Ok(self.get(scope, key)?)
    }

    fn delete(
        &self,
        scope: String,
        key: String,
    ) -> Pending<Result<Option<Box<RawValue>>, StoreError>> {
        let deleted = self.delete(scope, key);
        Box::pin(async move { deleted.await.map_err(StoreError::from) })
    }

    fn list(&self, scope: &str) -> Result<Box<RawValue>, StoreError> {
        Ok(self.list_as_json(scope)?)
    }

    fn groups(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.groups()?)
    }

    fn update(
        &self,
        scope: String,
        key: String,
        change: Change,
    ) -> Pending<Result<Updated, StoreError>> {
        let refused = |error: StoreError| StateError::Rejected {
            message: error.to_string(),
        };
        let updated = self.update(
            scope,
            key,
            Box::new(move |old| change(old).map_err(refused)),
        );
        Box::pin(async move { updated.await.map_err(StoreError::from) })
    }

    fn changes(&self) -> BoxStream<'static, StateChange> {
        let changes = self.changes();
        stream::unfold(changes, |mut changes| async move {
            let change = changes.recv().await?;
            Some((change, changes))
        })
        .boxed()
    }
}

impl From<StateError> for StoreError {
    fn from(error: StateError) -> Self {
        let cause = error.source().map(|cause| format!(": {cause}"));
        let hint = error.hint().map(|hint| format!(" ({hint})"));
        let [cause, hint] = [cause, hint].map(Option::unwrap_or_default);
        let text = format!("{error}{cause}{hint}");
        match error {
            StateError::TooLarge { .. } => Self::TooLarge(text),
            _ => Self::Failed(text),
        }
    }
}
