//! Recording the versions of rows that are written or removed.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Catalogue;
use crate::Failure;
use crate::history::{Next, Note, Plan, StoredVersion, VersionStore};
use crate::image::Need;
use crate::row::Row;
use crate::row_slot::RowSlot;

/// When and why a row is removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemovalNote {
    pub note: Note,
    pub at: Arc<str>,
}

impl<T: Row> Catalogue<T> {
    /// The versions of the rows, if they are recorded.
    fn recorded_versions(&self) -> Option<&VersionStore<T>> {
        self.versions().filter(|versions| versions.is_on())
    }

    /// The row of a key, from memory if it is current there. A write must not load the scope.
    async fn stored(&self, key: &str) -> Result<Option<RowSlot<T>>, Failure> {
        let known = {
            let mut image = self.image();
            let now = image.tick();
            let is_fresh = image.is_fresh(now, Need::Key(key), self.is_watched());
            is_fresh.then(|| image.get(key))
        };
        match known {
            Some(row) => Ok(row),
            None => self.read_key(key).await,
        }
    }

    /// What the write of a row has to record; none if the rows have no history.
    pub(super) async fn plan_version(&self, key: &str, row: &T) -> Result<Option<Plan>, Failure> {
        let Some(versions) = self.recorded_versions() else {
            return Ok(None);
        };
        let before = self.stored(key).await?;
        versions.plan(row, before.as_ref()).await.map(Some)
    }

    /// Records a row that is being written.
    pub(super) async fn record_version(
        &self,
        plan: Option<Plan>,
        row: &Arc<T>,
        json: &RawValue,
        note: &Note,
    ) -> Result<(), Failure> {
        let (Some(versions), Some(plan)) = (&self.versions, plan) else {
            return Ok(());
        };
        let recorded = versions.record(plan, row, json, note).await;
        match &recorded {
            Ok(version) => versions.recorded(Arc::clone(row), *version),
            Err(_) => versions.forget(&row.key()),
        }
        recorded.map(drop)
    }

    /// The number of the version of a removal; none if the rows have no history or there is
    /// nothing to remove.
    pub(super) async fn plan_removal(&self, key: &Arc<str>) -> Result<Option<Next>, Failure> {
        if self.recorded_versions().is_none() {
            return Ok(None);
        }
        let before = self.stored(key).await?;
        self.plan_removal_of(key, before.as_ref()).await
    }

    /// The same for a row that is known.
    pub(super) async fn plan_removal_of(
        &self,
        key: &Arc<str>,
        before: Option<&RowSlot<T>>,
    ) -> Result<Option<Next>, Failure> {
        match self.recorded_versions() {
            Some(versions) if before.is_some() => versions.next(key, before).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Records that a row was removed.
    pub(super) async fn record_removal(
        &self,
        key: &Arc<str>,
        next: Option<Next>,
        removal: &RemovalNote,
    ) -> Result<(), Failure> {
        let Some(versions) = self.recorded_versions() else {
            return Ok(());
        };
        // The next registration reads the number.
        versions.forget(key);
        let next = match next {
            Some(next) => next,
            // Another instance had registered it a moment ago.
            None => versions.next(key, None).await?,
        };
        let RemovalNote { note, at } = removal;
        let version = StoredVersion::of_removal(Arc::clone(key), Arc::clone(at), note);
        versions.append(version, next).await.map(drop)
    }
}
