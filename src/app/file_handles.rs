//! How many files and sockets this process may open.

use crate::limits::MAX_FILE_HANDLES;

/// Connections that each of the two listeners may have: together at most half of what the process
/// may open. The rest is for state and files.
pub fn max_connections(wanted: usize) -> usize {
    wanted.min(raise() / 4).max(1)
}

/// Raises the limit as far as the system allows, and returns it.
#[cfg(unix)]
fn raise() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let old = getrlimit(Resource::Nofile);
    let wanted = (MAX_FILE_HANDLES as u64).min(old.maximum.unwrap_or(u64::MAX));
    // macOS refuses more than 10,240 where the limit is called infinite.
    for current in [wanted, wanted.min(10_240)] {
        let new = Rlimit {
            current: Some(current),
            maximum: old.maximum,
        };
        if old.current.is_some_and(|old| old < current) && setrlimit(Resource::Nofile, new).is_ok()
        {
            break;
        }
    }
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(MAX_FILE_HANDLES, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// The limit of sockets elsewhere is far above what is served here.
#[cfg(not(unix))]
fn raise() -> usize {
    MAX_FILE_HANDLES
}
