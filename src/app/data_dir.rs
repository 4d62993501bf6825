//! The default data directory.

use std::path::PathBuf;

/// The directory `skills` in this user's directory for application data.
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

/// A variable with an absolute path: a relative one would depend on the current directory.
fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
