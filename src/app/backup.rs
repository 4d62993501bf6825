//! The archive of a backup, and bringing it into a data directory.
//!
//! An archive is text, compressed with gzip: one JSON object on each line. The first names the
//! format, then there is one line for each row, and the last has their number and the digest of
//! all lines before it. So what is not whole is noticed before anything is written.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use skills_core::{Digest, Kind, ScopeNames};
use skills_iii::state::{SqliteState, StateError, StoreOptions};

/// The first bytes of every gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

const TOO_SHORT: &str = "the file ends too early";

const FORMAT: &str = "skills-backup";
const VERSION: u32 = 1;

/// The scope that marks a directory while rows are brought into it.
const MARK: &str = ".restore";

/// Rows that are written at the same time.
const CONCURRENT_WRITES: usize = 256;

/// Everything that a registry keeps.
#[derive(Debug)]
pub struct Archive {
    /// When it was made, RFC 3339 in UTC.
    pub created: String,
    /// The rows, in the order of insertion within each scope.
    pub rows: Vec<ArchiveRow>,
}

/// One row.
#[derive(Debug, Deserialize, Serialize)]
pub struct ArchiveRow {
    /// Its scope, by the name that it has by default.
    pub scope: String,
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Box<RawValue>,
}

#[derive(Deserialize, Serialize)]
struct Header {
    format: String,
    version: u32,
    created: String,
    /// The version of the program that wrote it.
    skills: String,
}

#[derive(Deserialize, Serialize)]
struct End {
    rows: usize,
    digest: String,
}

/// Why an archive cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is something else.
    #[error("it is not a backup of skills")]
    Foreign,
    /// A newer program wrote it.
    #[error("it has version {0} of the format; this program reads version {VERSION}")]
    Newer(u32),
    /// A part is missing or changed.
    #[error("it is not complete or damaged: {0}")]
    Damaged(String),
}

impl ArchiveError {
    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Foreign => "name a file that `skills backup` wrote; nothing was restored",
            Self::Newer(_) => "install a newer version of skills; nothing was restored",
            Self::Damaged(_) => "copy the file again, or name another; nothing was restored",
        }
    }
}

/// Why a backup was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Something is there already.
    #[error("{dir} is not empty: {found}")]
    NotEmpty {
        /// The data directory.
        dir: String,
        /// What is there.
        found: String,
    },
    /// A scope that no registry has.
    #[error("it has rows of the scope `{0}`, which no registry has")]
    UnknownScope(String),
    /// The data directory cannot be used.
    #[error("{0}")]
    State(#[from] StateError),
}

impl RestoreError {
    /// The kind of the error, for programs.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::NotEmpty { .. } => Kind::Conflict,
            Self::UnknownScope(_) => Kind::Invalid,
            Self::State(_) => Kind::Broken,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotEmpty { .. } => {
                Some("name an empty directory with --data-dir, or move this one away".into())
            }
            Self::UnknownScope(_) => Some("a newer version of skills may read it".into()),
            Self::State(error) => error.hint().map(str::to_owned),
        }
    }
}

impl Archive {
    /// How many rows each scope has.
    pub fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        for row in &self.rows {
            *counts.entry(&*row.scope).or_default() += 1;
        }
        counts
    }

    /// The archive as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let header = Header {
            format: FORMAT.into(),
            version: VERSION,
            created: self.created.clone(),
            skills: env!("CARGO_PKG_VERSION").into(),
        };
        push_line(&mut text, &header);
        for row in &self.rows {
            push_line(&mut text, row);
        }
        let end = End {
            rows: self.rows.len(),
            digest: Digest::of(&text).to_string(),
        };
        push_line(&mut text, &end);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        let written = gzip.write_all(&text).and_then(|()| gzip.finish());
        written.expect("memory takes any bytes")
    }

    /// Reads and checks all of an archive.
    pub fn read(file: &[u8]) -> Result<Self, ArchiveError> {
        if !file.starts_with(&GZIP) {
            return Err(ArchiveError::Foreign);
        }
        let damaged = |problem: &str| ArchiveError::Damaged(problem.to_owned());
        let mut text = Vec::new();
        let mut gzip = GzDecoder::new(file);
        let unpacked = gzip.read_to_end(&mut text);
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        let header = lines.next().unwrap_or_default();
        let header = match serde_json::from_slice::<Header>(header) {
            Ok(header) if header.format == FORMAT => header,
            // Not even the first line could be unpacked.
            _ if unpacked.is_err() => return Err(damaged(TOO_SHORT)),
            _ => return Err(ArchiveError::Foreign),
        };
        if header.version > VERSION {
            return Err(ArchiveError::Newer(header.version));
        }
        unpacked.map_err(|error| ArchiveError::Damaged(gzip_problem(&error)))?;
        let lines: Vec<_> = lines.collect();
        let Some((last, rows)) = lines.split_last() else {
            return Err(damaged("it ends after the first line"));
        };
        let end: End = serde_json::from_slice(last).map_err(|_| damaged("its end is missing"))?;
        let before = text.len() - last.len();
        if end.digest != Digest::of(&text[..before]).to_string() || end.rows != rows.len() {
            return Err(damaged("the digest at its end is of other rows"));
        }
        let row = |(number, line): (usize, &&[u8])| {
            let row = serde_json::from_slice::<ArchiveRow>(line);
            row.map_err(|error| damaged(&format!("line {}: {error}", number + 2)))
        };
        let rows: Vec<_> = rows.iter().enumerate().map(row).collect::<Result<_, _>>()?;
        let mut keys = HashSet::new();
        if let Some(row) = rows.iter().find(|row| !keys.insert((&row.scope, &row.key))) {
            let twice = format!("{}/{} is there twice", row.scope, row.key);
            return Err(damaged(&twice));
        }
        Ok(Self {
            created: header.created,
            rows,
        })
    }

    /// Brings the rows into the data directory, which must have none. If it is interrupted, the
    /// next one begins again.
    pub async fn restore(self, dir: &Path, names: &ScopeNames) -> Result<(), RestoreError> {
        let here = |row: ArchiveRow| {
            let scope = names.here(&row.scope);
            let scope = scope.ok_or(RestoreError::UnknownScope(row.scope))?;
            Ok((scope, row.key, row.value))
        };
        let rows = self.rows.into_iter().map(here);
        let rows = rows.collect::<Result<Vec<_>, RestoreError>>()?;
        let store = SqliteState::open(dir, StoreOptions::default())?;
        let restored = fill(&store, dir, rows).await;
        store.close();
        restored
    }
}

type NamedRow = (String, String, Box<RawValue>);

async fn fill(store: &SqliteState, dir: &Path, rows: Vec<NamedRow>) -> Result<(), RestoreError> {
    let is_interrupted = store.get(MARK, MARK)?.is_some();
    for scope in store.groups()? {
        let mut keys = Vec::new();
        store.for_each_row(&scope, &mut |(key, _)| keys.push(key.to_owned()))?;
        if is_interrupted && scope != MARK {
            for key in keys {
                store.delete(scope.clone(), key).await?;
            }
        } else if let Some(key) = keys.first().filter(|_| !is_interrupted) {
            let dir = dir.display().to_string();
            let found = format!("the scope `{scope}` has rows, such as `{key}`");
            return Err(RestoreError::NotEmpty { dir, found });
        }
    }
    let mark = to_raw_value("a backup is being restored").expect("a text is JSON");
    store.set(MARK.into(), MARK.into(), mark).await?;
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let some = rows.by_ref().take(CONCURRENT_WRITES);
        let writes: Vec<_> = some
            .map(|(scope, key, value)| store.set(scope, key, value))
            .collect();
        for write in writes {
            write.await?;
        }
    }
    store.delete(MARK.into(), MARK.into()).await?;
    Ok(())
}

fn push_line(text: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(&mut *text, value).expect("it is JSON, and memory takes any bytes");
    text.push(b'\n');
}

fn gzip_problem(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => TOO_SHORT.into(),
        _ => "its compression does not fit its content".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn row(scope: &str, key: &str, value: &str) -> ArchiveRow {
        ArchiveRow {
            scope: scope.into(),
            key: key.into(),
            value: RawValue::from_string(value.into()).unwrap(),
        }
    }

    fn archive() -> Archive {
        Archive {
            created: "2026-01-01T00:00:00Z".into(),
            rows: vec![
                row("skills", "b", r#"{"id":"b","skill":"B"}"#),
                row("skills", "a", r#"{"id":"a"}"#),
                row("skills.leases", "skill:a", "1"),
                row("prompts", "p", "null"),
            ],
        }
    }

    fn names() -> ScopeNames {
        ScopeNames {
            skills: "mine".into(),
            prompts: "prompts".into(),
        }
    }

    fn problem(bytes: &[u8]) -> String {
        Archive::read(bytes).unwrap_err().to_string()
    }

    fn pack(text: &str) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn an_archive_is_read_as_it_was_written() {
        let read = Archive::read(&archive().to_bytes()).unwrap();
        assert_eq!(read.created, "2026-01-01T00:00:00Z");
        let texts = |archive: &Archive| -> Vec<String> {
            let text = |row: &ArchiveRow| serde_json::to_string(row).unwrap();
            archive.rows.iter().map(text).collect()
        };
        assert_eq!(texts(&read), texts(&archive()));
        let counts = [("prompts", 1), ("skills", 2), ("skills.leases", 1)];
        assert_eq!(read.counts(), BTreeMap::from(counts));
    }

    #[test]
    fn an_archive_that_is_cut_or_changed_anywhere_is_refused() {
        let whole = archive().to_bytes();
        for length in 0..whole.len() {
            let problem = problem(&whole[..length]);
            let expected = if length < 2 {
                "not a backup"
            } else {
                "not complete or damaged"
            };
            assert!(problem.contains(expected), "{length}: {problem}");
        }
        // The header of gzip has a time and the name of a system, which mean nothing.
        for at in 10..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(Archive::read(&changed).is_err(), "byte {at} was changed");
        }
    }

    #[test]
    fn other_files_and_newer_versions_are_refused_by_name() {
        assert_eq!(problem(b"# A skill\n"), "it is not a backup of skills");
        assert_eq!(problem(&pack("a\nb\n")), "it is not a backup of skills");
        assert_eq!(problem(&pack("")), "it is not a backup of skills");
        let header = r#"{"format":"skills-backup","version":2,"created":"","skills":"9"}"#;
        assert!(problem(&pack(header)).contains("version 2 of the format"));
        let mut twice = archive();
        twice.rows.push(row("skills", "a", "2"));
        assert!(problem(&twice.to_bytes()).contains("skills/a is there twice"));
    }

    #[tokio::test]
    async fn rows_go_into_an_empty_directory_only_and_an_interrupted_restore_begins_again() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("data");
        let open = || SqliteState::open(&dir, StoreOptions::default()).unwrap();
        let mut foreign = archive();
        foreign.rows.push(row("elsewhere", "x", "1"));
        let error = foreign.restore(&dir, &names()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Invalid);
        assert!(!dir.exists(), "nothing was written");
        // As a kill in the middle leaves it.
        let store = open();
        let json = || RawValue::from_string("1".into()).unwrap();
        for (scope, key) in [(MARK, MARK), ("mine", "half")] {
            store.set(scope.into(), key.into(), json()).await.unwrap();
        }
        store.close();
        archive().restore(&dir, &names()).await.unwrap();
        let store = open();
        let list = store.list("mine").unwrap();
        assert_eq!(list.get(), r#"[{"id":"b","skill":"B"},{"id":"a"}]"#);
        assert_eq!(
            store.get("mine.leases", "skill:a").unwrap().unwrap().get(),
            "1"
        );
        assert!(store.get(MARK, MARK).unwrap().is_none());
        store.close();
        let before = fs::read(dir.join("state.db")).unwrap();
        let error = archive().restore(&dir, &names()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Conflict);
        assert_eq!(fs::read(dir.join("state.db")).unwrap(), before);
    }
}
