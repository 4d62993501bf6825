//! Reads a text file to serve, or the reason why it is not served.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::read_file::{ReadFileError, read_unlinked_file};
use crate::reason::{NOT_A_FILE, io_reason, is_outage};
use crate::rfc3339::rfc3339;
use crate::stamp::Stamp;

/// A text file.
#[derive(Debug)]
pub struct TextFile {
    /// Its whole text.
    pub text: String,
    /// When it was last modified, as RFC 3339.
    pub modified_at: Arc<str>,
    /// Its stamp when it was opened.
    pub stamp: Stamp,
}

/// Why an existing file is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// Its content cannot be served until it is edited.
    Invalid(String),
    /// The system did not allow it to be read.
    Unreadable(String),
    /// The system cannot read files now; this says nothing about the file.
    Outage(String),
}

impl Unserved {
    /// The reason, with a remedy.
    pub fn reason(self) -> String {
        match self {
            Self::Invalid(reason) | Self::Unreadable(reason) | Self::Outage(reason) => reason,
        }
    }
}

impl From<String> for Unserved {
    fn from(reason: String) -> Self {
        Self::Invalid(reason)
    }
}

impl TextFile {
    /// Reads a file of at most `limit` bytes at a path without links; `None` if it does not
    /// exist. `stated_limit` is the limit that a reason states.
    pub fn read(path: &Path, limit: usize, stated_limit: usize) -> Result<Option<Self>, Unserved> {
        let content = match read_unlinked_file(path, limit) {
            Ok(content) => content,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(ReadFileError::Directory | ReadFileError::NotRegular) => {
                return Err(NOT_A_FILE.to_owned().into());
            }
            Err(ReadFileError::TooLarge { bytes }) => {
                return Err(too_large(bytes, stated_limit).into());
            }
            Err(ReadFileError::Io(error)) => return Err(unreadable(&error)),
        };
        let text = String::from_utf8(content.bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            format!("is not UTF-8 (at byte {at}); save it as UTF-8")
        })?;
        let modified = content.metadata.modified();
        let modified = modified.map_err(|error| unreadable(&error))?;
        let modified_at = rfc3339(modified)
            .ok_or_else(|| "has a modification time out of range; `touch` it".to_owned())?;
        Ok(Some(Self {
            text,
            modified_at: modified_at.into(),
            stamp: Stamp::of(&content.metadata),
        }))
    }
}

fn unreadable(error: &io::Error) -> Unserved {
    let reason = io_reason(error);
    if is_outage(error) {
        Unserved::Outage(reason)
    } else {
        Unserved::Unreadable(reason)
    }
}

/// The reason for a file of this many bytes.
pub fn too_large(bytes: u64, limit: usize) -> String {
    format!("is too large: {bytes} bytes, at most {limit}; split it into several files")
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::*;

    fn read(path: &Path) -> Result<Option<TextFile>, Unserved> {
        // The temporary folder of some systems is behind a link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        TextFile::read(&path, 100, 90)
    }

    #[test]
    fn the_time_is_the_modification_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "# A").unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_012);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        let text_file = read(&path).unwrap().unwrap();
        assert_eq!(&*text_file.modified_at, "2023-11-14T22:13:20.000012Z");
    }

    #[test]
    fn a_time_out_of_range_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "# A").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        // Not every file system can store this time; then there is nothing to refuse.
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        let taken = file.set_modified(far).is_ok();
        let kept = fs::metadata(&path).unwrap().modified().unwrap() == far;
        let refused = read(&path).is_err_and(|unserved| unserved.reason().contains("out of range"));
        assert_eq!(refused, taken && kept);
    }

    #[test]
    fn a_missing_file_is_not_reported_and_a_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(&folder.path().join("gone.md")).unwrap().is_none());
        let reason = read(folder.path()).unwrap_err().reason();
        assert!(reason.contains("not a regular file"), "{reason}");
    }

    #[test]
    fn an_unreadable_file_is_not_invalid() {
        // Longer than any file system allows.
        let path = Path::new("/").join("a".repeat(10_000));
        let unserved = read(&path).unwrap_err();
        assert!(matches!(&unserved, Unserved::Unreadable(_)), "{unserved:?}");
        assert!(unserved.reason().contains("cannot be read: "));
    }
}
