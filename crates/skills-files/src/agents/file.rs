//! Reading one `.3md` file: its extension, its size, its text.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The largest document, in bytes.
pub const DOCUMENT_MAX: usize = 5_242_880;

/// Why a file cannot be a document.
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
        /// What the system said.
        cause: io::Error,
    },
    /// It is larger than [`DOCUMENT_MAX`].
    #[error("document too large ({bytes} bytes > {DOCUMENT_MAX}); refusing to load.")]
    TooLarge {
        /// How large it is, or at least is.
        bytes: u64,
    },
}

/// A file that was read.
#[derive(Debug)]
pub struct Text {
    /// What it says; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Whether there were such bytes.
    pub replaced: bool,
    /// What the disk knows about it.
    pub metadata: Metadata,
}

/// The path from the root of the disk, without `.` and `..`.
pub fn absolute(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path)
        .as_deref()
        .unwrap_or(path)
        .components()
    {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}

/// Whether a name ends in `.3md`, and is more than that.
pub fn is_document(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("3md"))
}

/// Reads a document. At most one byte more than allowed is read, whatever the file claims.
pub fn read(path: &Path) -> Result<Text, ReadError> {
    if !is_document(path) {
        return Err(ReadError::Extension(path.to_owned()));
    }
    let unreadable = |cause| ReadError::Unreadable {
        path: path.to_owned(),
        cause,
    };
    let file = open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() {
            io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")
        } else {
            io::Error::other("it is no regular file")
        };
        return Err(unreadable(what));
    }
    let most = DOCUMENT_MAX as u64;
    if metadata.len() > most {
        let bytes = metadata.len();
        return Err(ReadError::TooLarge { bytes });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // It may grow while we read.
    let read = file.take(most + 1).read_to_end(&mut bytes);
    if read.map_err(unreadable)? > DOCUMENT_MAX {
        return Err(ReadError::TooLarge { bytes: most + 1 });
    }
    let (text, replaced) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    Ok(Text {
        text,
        replaced,
        metadata,
    })
}

/// To open a pipe that nobody writes to would wait forever.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NONBLOCK);
    options.open(path)
}

/// Elsewhere a folder cannot be opened as a file, so it is looked at first.
#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a directory",
        ));
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_documents() {
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
    fn a_path_loses_its_detours() {
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
        assert_eq!(read(&path).unwrap().text.len(), DOCUMENT_MAX);
        std::fs::write(&path, vec![b'a'; DOCUMENT_MAX + 1]).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert_eq!(
            error,
            "document too large (5242881 bytes > 5242880); refusing to load."
        );
    }
}
