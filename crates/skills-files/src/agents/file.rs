//! Reads one `.3md` file: extension, size and text.

use std::path::{Component, Path, PathBuf};

use crate::limits::DOCUMENT_MAX;
use crate::read_file::{ReadFileError, read_file};

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Its name does not end in `.3md`.
    #[error("refusing to load a non-.3md file: {}", .0.display())]
    Extension(PathBuf),
    /// It cannot be read.
    #[error("cannot read {}: {cause}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        cause: ReadFileError,
    },
    /// It is larger than [`DOCUMENT_MAX`].
    #[error("document too large ({bytes} bytes > {DOCUMENT_MAX}); refusing to load.")]
    TooLarge {
        /// Its size, or one more than the limit if it grew while it was read.
        bytes: u64,
    },
}

/// The absolute path, without `.` and `..`.
pub fn absolute(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut absolute = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            absolute.pop();
        } else {
            absolute.push(component);
        }
    }
    absolute
}

/// Whether a name ends in `.3md`, in any case, and has a stem.
pub fn is_document(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("3md"))
}

/// Reads a document of at most [`DOCUMENT_MAX`] bytes. Bytes that are not UTF-8 are
/// replaced.
pub fn read(path: &Path) -> Result<String, ReadError> {
    if !is_document(path) {
        return Err(ReadError::Extension(path.to_owned()));
    }
    match read_file(path, DOCUMENT_MAX) {
        Ok(content) => Ok(String::from_utf8(content.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())),
        Err(ReadFileError::TooLarge { bytes }) => Err(ReadError::TooLarge { bytes }),
        Err(cause) => Err(ReadError::Unreadable {
            path: path.to_owned(),
            cause,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_end_in_3md() {
        for (name, expected) in [
            ("agent.3md", true),
            ("a.b.3MD", true),
            (".3md", false),
            ("agent.md", false),
            ("agent.3md.txt", false),
            ("3md", false),
        ] {
            assert_eq!(is_document(Path::new(name)), expected, "for {name}");
        }
    }

    #[test]
    fn an_absolute_path_has_no_detours() {
        let folder = tempfile::tempdir().unwrap();
        let direct = folder.path().join("b.3md");
        assert_eq!(absolute(&folder.path().join("a/.././b.3md")), direct);
        assert!(absolute(Path::new("x.3md")).is_absolute());
    }

    #[test]
    fn a_document_at_the_limit_is_read_and_a_larger_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.3md");
        std::fs::write(&path, vec![b'a'; DOCUMENT_MAX]).unwrap();
        assert_eq!(read(&path).unwrap().len(), DOCUMENT_MAX);
        std::fs::write(&path, vec![b'a'; DOCUMENT_MAX + 1]).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert_eq!(
            error,
            "document too large (5242881 bytes > 5242880); refusing to load."
        );
    }
}
