//! The stored versions of entries together with what is registered.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::catalogue::Catalogue;
use crate::history::{NotThere, RowHead, Version, Versions};
use crate::row::Row;
use crate::row_slot::RowSlot;
use crate::{EntryName, Error, Failure, VersionRef};

/// Rows that are read at the same time.
const READS_AT_ONCE: usize = 32;

/// The versions of an entry with the one that is registered.
pub(super) async fn versions<T: Row>(
    catalogue: &Catalogue<T>,
    entry: &EntryName,
    key: &str,
) -> Result<Versions, Error> {
    let failed = |cause| Error::state(|| format!("read the versions of {entry}"))(cause);
    let mut versions = stored_versions(catalogue, key).await.map_err(failed)?;
    let mut row = catalogue.get(key).await.map_err(failed)?;
    let mut row_head = head(row.as_ref());
    if !versions.agree_with(row_head.as_ref()) {
        // The event of a change by another instance may not have arrived yet.
        row = catalogue.read_key(key).await.map_err(failed)?;
        row_head = head(row.as_ref());
        versions = stored_versions(catalogue, key).await.map_err(failed)?;
    }
    if let (Some(RowSlot::Row(row)), Some(row_head)) = (row, row_head) {
        versions.mark_current(&row_head, || Some(row.to_json()));
    }
    if versions.list.is_empty() {
        return Err(Error::NoHistory {
            what: entry.to_string(),
        });
    }
    Ok(versions)
}

fn head<T: Row>(row: Option<&RowSlot<T>>) -> Option<RowHead> {
    match row {
        Some(RowSlot::Row(row)) => Some(RowHead::of(&**row)),
        Some(RowSlot::Damaged(_)) | None => None,
    }
}

async fn stored_versions<T: Row>(catalogue: &Catalogue<T>, key: &str) -> Result<Versions, Failure> {
    match catalogue.versions() {
        Some(versions) => versions.read(key).await,
        None => Ok(Versions::default()),
    }
}

/// The versions of every entry with those that are registered, without their texts.
pub(super) async fn all_versions<T: Row>(
    catalogue: &Catalogue<T>,
) -> Result<BTreeMap<Arc<str>, Versions>, Failure> {
    let Some(store) = catalogue.versions() else {
        return Ok(BTreeMap::new());
    };
    // The rows first: one that is written meanwhile would have no version in what was read before.
    let mut rows = catalogue.row_heads().await?;
    let mut stored: BTreeMap<Arc<str>, Vec<Version>> = BTreeMap::new();
    let visited = store.for_each(|version| {
        let id = Arc::clone(&version.id);
        let version = Version {
            row: None,
            ..Version::from_stored(version)
        };
        stored.entry(id).or_default().push(version);
    });
    visited.await?;
    for id in rows.keys() {
        stored.entry(Arc::clone(id)).or_default();
    }
    let mut all: BTreeMap<_, _> = stored
        .into_iter()
        .map(|(id, list)| (id, Versions::new(list, store.keep())))
        .collect();
    // The event of a change by another instance may not have arrived yet. An old directory has many
    // rows without a version; they are not read again.
    let may_be_late = |(id, versions): &(&Arc<str>, &Versions)| {
        catalogue.is_watched() && !versions.list.is_empty() && !versions.agree_with(rows.get(*id))
    };
    let late = all.iter().filter(may_be_late);
    let late: Vec<_> = late.map(|(id, _)| Arc::clone(id)).collect();
    for some in late.chunks(READS_AT_ONCE) {
        let read = some.iter().map(|id| async move {
            let row = head(catalogue.read_key(id).await?.as_ref());
            Ok::<_, Failure>((Arc::clone(id), row))
        });
        for read in join_all(read).await {
            let (id, row) = read?;
            if row.as_ref() != rows.get(&id) {
                all.insert(Arc::clone(&id), store.read(&id).await?);
                match row {
                    Some(row) => rows.insert(id, row),
                    None => rows.remove(&id),
                };
            }
        }
    }
    for (id, versions) in &mut all {
        if let Some(row) = rows.get(id) {
            versions.mark_current(row, || None);
        }
    }
    Ok(all)
}

pub(super) fn decode_optional<T: Row>(
    entry: &EntryName,
    version: &Version,
) -> Result<Option<T>, Error> {
    let Some(row) = &version.row else {
        return Ok(None);
    };
    let decoded = T::from_json(row.get());
    decoded.map(Some).map_err(|bad| {
        let what = format!("version {} of {entry}", version.head.version);
        Error::damaged(what, &bad.problem)
    })
}

/// The error for a version that is not listed.
pub(super) fn no_such_version(
    entry: &EntryName,
    wanted: &VersionRef,
    versions: &Versions,
    not_there: NotThere,
) -> Error {
    match not_there {
        NotThere::Unknown => without_text(entry, wanted, versions, "not found"),
        NotThere::GivenBack => {
            let problem = "is not kept any more: its text was given back";
            without_text(entry, wanted, versions, problem)
        }
        NotThere::Ambiguous(digests) => {
            let digests: Vec<_> = digests.iter().map(|digest| format!("`{digest}`")).collect();
            Error::invalid_hint(
                format!("version {wanted} of {entry}"),
                "is ambiguous: several digests begin with it",
                format!("write more digits: {}", digests.join(", ")),
            )
        }
    }
}

/// The error for the text of a removal.
pub(super) fn removal(entry: &EntryName, wanted: &VersionRef, versions: &Versions) -> Error {
    without_text(entry, wanted, versions, "has no text: it is a removal")
}

fn without_text(
    entry: &EntryName,
    wanted: &VersionRef,
    versions: &Versions,
    problem: &str,
) -> Error {
    Error::NoSuchVersion {
        what: entry.to_string(),
        version: wanted.to_string(),
        problem: problem.into(),
        hint: with_text(versions),
    }
}

/// The versions that can be read, for a hint.
fn with_text(versions: &Versions) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for version in versions.list.iter().filter(|version| version.row.is_some()) {
        let number = version.head.version;
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    if ranges.is_empty() {
        return "no version has a text any more".into();
    }
    let ranges = ranges.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first} to {last}"),
    });
    format!("it has {}", ranges.collect::<Vec<_>>().join(", "))
}
