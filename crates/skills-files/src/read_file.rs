//! Reads a regular file up to a limit, without waiting for pipes or devices.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use crate::open_file::{open_file, open_unlinked_file};
use crate::reason::is_not_found;

/// A file that was read whole.
#[derive(Debug)]
pub struct FileContent {
    /// Its bytes, at most the limit.
    pub bytes: Vec<u8>,
    /// Its metadata when it was opened.
    pub metadata: Metadata,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadFileError {
    /// The path leads to a directory.
    #[error("it is a directory")]
    Directory,
    /// The path leads to a pipe, a socket or a device.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is larger than the limit.
    #[error("it is too large: {bytes} bytes")]
    TooLarge {
        /// Its size, or one more than the limit if it grew while it was read.
        bytes: u64,
    },
    /// It cannot be opened or read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ReadFileError {
    /// Whether nothing exists at the path.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if is_not_found(error))
    }
}

/// Reads a regular file of at most `limit` bytes.
pub fn read_file(path: &Path, limit: usize) -> Result<FileContent, ReadFileError> {
    // Opening a device can have effects, so its type is checked before as well.
    check_regular(&fs::metadata(path)?)?;
    read_open(&open_file(path)?, limit)
}

/// Reads a file like [`read_file`], at a path that had no links when it was found. A file
/// behind a link does not exist.
pub(crate) fn read_unlinked_file(path: &Path, limit: usize) -> Result<FileContent, ReadFileError> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Err(io::Error::from(io::ErrorKind::NotFound).into());
    }
    check_regular(&metadata)?;
    read_open(&open_unlinked_file(path)?, limit)
}

/// Reads a file that a person named, of at most `limit` bytes: a regular file, or an open
/// descriptor such as `/dev/stdin` or what a shell makes of `<(command)`. A pipe with a name
/// is refused: to open it is to wait for a writer.
pub fn read_named_file(path: &Path, limit: usize) -> Result<Vec<u8>, ReadFileError> {
    let is_descriptor = path == Path::new("/dev/stdin")
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd");
    match read_file(path, limit) {
        Err(ReadFileError::NotRegular) if is_descriptor => read_up_to(File::open(path)?, limit),
        read => read.map(|content| content.bytes),
    }
}

/// Reads to the end of `source`, which may hold at most `limit` bytes.
pub fn read_up_to(source: impl Read, limit: usize) -> Result<Vec<u8>, ReadFileError> {
    read_sized(source, limit, 0)
}

fn read_open(file: &File, limit: usize) -> Result<FileContent, ReadFileError> {
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    let bytes = metadata.len();
    match usize::try_from(bytes) {
        Ok(size) if size <= limit => Ok(FileContent {
            bytes: read_sized(file, limit, size)?,
            metadata,
        }),
        _ => Err(ReadFileError::TooLarge { bytes }),
    }
}

fn check_regular(metadata: &Metadata) -> Result<(), ReadFileError> {
    if metadata.is_dir() {
        Err(ReadFileError::Directory)
    } else if !metadata.is_file() {
        Err(ReadFileError::NotRegular)
    } else {
        Ok(())
    }
}

/// `size` is only expected: a file can grow while it is read.
fn read_sized(source: impl Read, limit: usize, size: usize) -> Result<Vec<u8>, ReadFileError> {
    let mut bytes = Vec::with_capacity(size + 1);
    source.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        let bytes = bytes.len() as u64;
        return Err(ReadFileError::TooLarge { bytes });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_at_the_limit_is_read_and_a_larger_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "12345").unwrap();
        let read = read_file(&path, 5).unwrap();
        assert_eq!((&*read.bytes, read.metadata.len()), (&b"12345"[..], 5));
        let error = read_file(&path, 4).unwrap_err();
        assert!(matches!(error, ReadFileError::TooLarge { bytes: 5 }));
        // It grows faster than it is read.
        let error = read_sized(io::repeat(b'a'), 100, 10).unwrap_err();
        assert!(matches!(error, ReadFileError::TooLarge { bytes: 101 }));
    }

    #[test]
    fn a_path_without_a_file_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let missing = read_file(&folder.path().join("gone.md"), 5).unwrap_err();
        assert!(missing.is_not_found());
        // A file in place of a folder: nothing exists below it.
        fs::write(folder.path().join("a"), "x").unwrap();
        let missing = read_file(&folder.path().join("a/b.md"), 5).unwrap_err();
        assert!(missing.is_not_found());
        let error = read_file(folder.path(), 5).unwrap_err();
        assert!(matches!(error, ReadFileError::Directory));
        let too_long = Path::new("/").join("a".repeat(10_000));
        assert!(!read_file(&too_long, 5).unwrap_err().is_not_found());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_device_that_replaced_a_file_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        for path in [&*path, Path::new("/dev/zero")] {
            let error = read_file(path, 5).unwrap_err();
            assert!(matches!(error, ReadFileError::NotRegular));
            // Without the first check, as if it had been replaced after that.
            let error = read_open(&open_file(path).unwrap(), 5).unwrap_err();
            assert!(matches!(error, ReadFileError::NotRegular));
        }
        let error = read_open(&open_file(folder.path()).unwrap(), 5).unwrap_err();
        assert!(matches!(error, ReadFileError::Directory));
    }
}
