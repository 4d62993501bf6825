//! Where state is kept unless somebody says otherwise.

use std::path::PathBuf;

/// This user's directory for application data, with our name.
pub fn data_dir() -> Option<PathBuf> {
    base().map(|base| base.join("skills"))
}

#[cfg(target_os = "windows")]
fn base() -> Option<PathBuf> {
    absolute("LOCALAPPDATA")
}

#[cfg(target_os = "macos")]
fn base() -> Option<PathBuf> {
    absolute("HOME").map(|home| home.join("Library/Application Support"))
}

#[cfg(not(any(target_os = "windows", target_os = "macos")))]
fn base() -> Option<PathBuf> {
    absolute("XDG_DATA_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
}

/// A variable that names a directory; a relative one would depend on where we are.
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
