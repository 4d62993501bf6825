//! Files for a test to serve.

use std::fs;
use std::path::Path;

/// Writes a file below `dir`, and the folders above it.
pub fn write(dir: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Writes a file by renaming another, so that a watcher never sees half of it.
pub fn replace(dir: &Path, path: &str, content: impl AsRef<[u8]>) {
    write(dir, "replacement.tmp", content);
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::rename(dir.join("replacement.tmp"), path).unwrap();
}
