//! Recording the versions of rows that are written or removed.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Catalogue, Stored, decode};
use crate::Failure;
use crate::history::{Next, Note, Plan, RowHead, StoredVersion, VersionStore, says_the_same};
use crate::image::Need;
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::state_scope::Replaced;

/// Why a row is removed.
#[derive(Clone, Debug)]
pub(crate) struct RemovalNote {
    pub note: Note,
    /// The clock. It is read under the lock of the key, so that of two changes the later one has
    /// the later time.
    pub now: fn() -> String,
}

impl RemovalNote {
    /// Of a row without versions.
    pub(crate) fn none() -> Self {
        Self {
            note: Note::default(),
            now: String::new,
        }
    }
}

impl<T: Row> Catalogue<T> {
    /// The versions of the rows, if they are recorded.
    fn recorded_versions(&self) -> Option<&VersionStore<T>> {
        self.versions().filter(|versions| versions.is_on())
    }

    /// The heads of all rows. Rows in this process are read without being kept.
    pub(crate) async fn row_heads(&self) -> Result<HashMap<Arc<str>, RowHead>, Failure> {
        let mut heads = HashMap::new();
        let visited = self.for_each_row(&mut |(key, text)| {
            if let Ok(text) = text
                && let RowSlot::Row(row) = decode::<T>(key, text)
            {
                heads.insert(row.key(), RowHead::of(&*row));
            }
        });
        if let Some(visited) = visited {
            visited?;
        } else {
            let snapshot = self.snapshot().await?;
            let rows = snapshot.rows.iter().chain(&snapshot.off);
            heads.extend(rows.map(|row| (row.key(), RowHead::of(&**row))));
        }
        Ok(heads)
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

    /// What the write of a row has to record; none if the rows have no history. `before` is what
    /// was just read. Without it, what this process knows may be out of date.
    pub(super) async fn plan_version(
        &self,
        row: &T,
        before: Option<&Stored<T>>,
    ) -> Result<Option<Plan>, Failure> {
        let Some(versions) = self.recorded_versions() else {
            return Ok(None);
        };
        let known;
        let before = if let Some(read) = before {
            read.slot.as_ref()
        } else {
            known = self.stored(&row.key()).await?;
            known.as_ref()
        };
        versions.plan(row, before).await.map(Some)
    }

    /// Records a row that was written because it said what was registered already, as far as this
    /// process had heard. If it replaced something else, another instance had changed the entry a
    /// moment ago, and this write is a change too.
    pub(super) async fn record_if_changed(
        &self,
        replaced: &Replaced,
        row: &Arc<T>,
        json: &RawValue,
        note: &Note,
    ) -> Result<(), Failure> {
        let Some(versions) = self.recorded_versions() else {
            return Ok(());
        };
        let before = replaced.value();
        if before.is_some_and(|before| differ_in_time_only(before.get(), json.get())) {
            return Ok(());
        }
        let key = row.key();
        let before = before.map(|raw| decode::<T>(&key, raw.get()));
        if says_the_same(before.as_ref(), &**row) {
            return Ok(());
        }
        versions.forget(&key);
        let next = versions.next(&key, before.as_ref()).await?;
        self.record_version(Some(Plan::Version(next)), row, json, note)
            .await
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
            Ok(version) => versions.recorded(Arc::clone(row), version.clone()),
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
        at: Arc<str>,
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
        let version = StoredVersion::of_removal(Arc::clone(key), at, &removal.note);
        versions.append(version, next).await.map(drop)
    }
}

/// Whether two rows are the same text up to the time of their registration, which is the last
/// field. To compare bytes takes a fraction of the time of decoding a body; an engine that orders
/// fields in another way has its row decoded.
fn differ_in_time_only(a: &str, b: &str) -> bool {
    // In a JSON text the quote after the comma begins a string, so that no body contains this.
    let content = |text| str::rsplit_once(text, r#","registered_at":""#);
    matches!((content(a), content(b)), (Some((a, _)), Some((b, _))) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Skill;

    #[test]
    fn rows_that_differ_in_time_only() {
        #[track_caller]
        fn check(body: &str, other: &str, expected: bool) {
            let text = |body: &str, at: &str| {
                let skill = Skill::new("a".parse().unwrap(), body, at);
                skill.to_json().get().to_owned()
            };
            let found = differ_in_time_only(&text(body, "1"), &text(other, "22"));
            assert_eq!(found, expected, "{body:?} and {other:?}");
        }
        check("A", "A", true);
        check("A", "B", false);
        let quoted = r#"A","registered_at":""#;
        check(quoted, quoted, true);
        check(quoted, "A", false);
        check("A", &format!("{quoted}x"), false);
        // Such rows are decoded.
        assert!(!differ_in_time_only("{}", "{}"));
    }
}
