//! Writes a file atomically: a reader sees all of it or what was there before.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::CliError;

/// Writes `contents` to a temporary file beside `path`, flushes it to disk and renames it.
/// Fails with `AlreadyExists` if the file exists and `replace` is false.
pub fn write_file(path: &Path, contents: impl AsRef<[u8]>, replace: bool) -> io::Result<()> {
    let dir = match path.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    };
    let mut builder = Builder::new();
    builder.prefix(".skills-").suffix(".part");
    // Like any new file; the default of the library is a file for this user only.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder
        .tempfile_in(dir)
        .map_err(|error| match error.kind() {
            // The error of the library names a file that the user does not know.
            io::ErrorKind::NotFound => io::Error::new(error.kind(), "there is no such directory"),
            _ => error,
        })?;
    file.as_file_mut().write_all(contents.as_ref())?;
    // Otherwise a power failure could leave an empty file under the final name.
    file.as_file().sync_all()?;
    let persisted = if replace {
        file.persist(path)
    } else {
        file.persist_noclobber(path)
    };
    persisted.map(drop).map_err(|error| error.error)
}

/// Replaces a file that exists, if it still has the bytes `before`; keeps its permissions. Returns
/// whether it was written. A link stays one: the file that it leads to is replaced.
pub fn rewrite_file(path: &Path, before: &[u8], contents: &str) -> io::Result<bool> {
    let path = path.canonicalize()?;
    if std::fs::read(&path)? != before {
        return Ok(false);
    }
    let permissions = std::fs::metadata(&path)?.permissions();
    write_file(&path, contents, true)?;
    std::fs::set_permissions(&path, permissions)?;
    Ok(true)
}

/// The first part of `dir/file` below `dir` that is a link: what is written there goes elsewhere.
/// The directory itself may be one, because the user named it.
pub fn first_link(dir: &Path, file: &Path) -> Option<PathBuf> {
    let mut path = dir.to_owned();
    for part in file {
        path.push(part);
        if path.is_symlink() {
            return Some(path);
        }
    }
    None
}

/// The error for a file or directory that cannot be written.
pub fn cannot_write(path: &Path, error: &io::Error) -> CliError {
    CliError::broken(format!("cannot write {}: {error}", path.display()))
        .with_hint("check the directory, its permissions and the free space")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_replaced_only_on_request() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        write_file(&path, "one", false).unwrap();
        let error = write_file(&path, "two", false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write_file(&path, "two", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "no temporary file remains");
    }

    #[cfg(unix)]
    #[test]
    fn a_written_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (ours, plain) = (dir.path().join("a"), dir.path().join("b"));
        write_file(&ours, "x", false).unwrap();
        fs::write(&plain, "x").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
