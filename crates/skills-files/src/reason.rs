//! Why the system did not give a file: the words for a report, and which errors mean that
//! more than one file is affected.

use std::fs;
use std::io;
use std::path::Path;

use skills_core::escape_control;

/// The reason given for pipes, sockets and devices.
pub const NOT_A_FILE: &str = "is not a regular file; only files can be served";

/// A path for messages; control characters in it are escaped.
pub fn display_path(path: &Path) -> String {
    escape_control(&path.to_string_lossy()).into_owned()
}

/// The reason for a link that cannot be followed.
pub fn broken_link_reason(path: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let target = display_path(&fs::read_link(path).unwrap_or_default());
            format!("is a link to {target}, which does not exist; remove or repair it")
        }
        // A cycle of links has a different error on each system.
        kind if kind != io::ErrorKind::PermissionDenied
            && fs::metadata(path).is_err()
            && fs::read_link(path).is_ok() =>
        {
            "is a link that leads to itself; remove it".into()
        }
        _ => io_reason(error),
    }
}

/// The reason for a path that the system could not read, with a remedy.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "may not be read; give this user permission to read it".into()
        }
        _ => format!("cannot be read: {error}"),
    }
}

/// Whether an error means that nothing exists at a path.
pub fn is_not_found(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether this user may not read a path.
pub fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Whether an error says nothing about the path: no handles or memory are left, or the disk
/// or the network failed. A listing that leaves out such a path would look as if its files
/// were deleted.
pub fn is_outage(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::OutOfMemory
        || error
            .raw_os_error()
            .is_some_and(|code| OUTAGES.contains(&code))
}

#[cfg(unix)]
const OUTAGES: &[i32] = &[
    libc::EMFILE,
    libc::ENFILE,
    libc::EIO,
    libc::ENOMEM,
    libc::ESTALE,
    libc::ETIMEDOUT,
];

/// Too many open files, not enough memory (2), network path gone, bad device, no resources.
#[cfg(not(unix))]
const OUTAGES: &[i32] = &[4, 8, 14, 53, 64, 1117, 1450];

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_outage_is_not_about_one_path() {
        for code in [libc::EMFILE, libc::ENFILE, libc::EIO, libc::ENOMEM] {
            assert!(is_outage(&io::Error::from_raw_os_error(code)), "{code}");
        }
        for code in [libc::ENOENT, libc::EACCES, libc::ELOOP, libc::ENAMETOOLONG] {
            assert!(!is_outage(&io::Error::from_raw_os_error(code)), "{code}");
        }
    }
}
