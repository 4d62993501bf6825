//! Opens files for reading without waiting for pipes, and on request without following links.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file without waiting: the file may have been replaced by a pipe since its type
/// was checked, and opening a pipe without a writer blocks.
pub fn open_file(path: &Path) -> io::Result<File> {
    #[cfg(test)]
    OPENED.set(OPENED.get() + 1);
    options().open(path)
}

/// Opens a file like [`open_file`], at an absolute path that had no links when it was found.
/// Nothing is found if a part of the path is a link now: it may lead anywhere.
pub fn open_unlinked_file(path: &Path) -> io::Result<File> {
    #[cfg(test)]
    OPENED.set(OPENED.get() + 1);
    system::open(path)
}

fn options() -> OpenOptions {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options
}

#[cfg(test)]
thread_local! {
    /// How many files this thread has opened.
    pub static OPENED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::{Component, Path};

    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open as open_path, openat, openat2};
    use rustix::io::{Errno, Result};

    const FILE: OFlags = OFlags::RDONLY
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOCTTY)
        .union(OFlags::CLOEXEC);

    pub fn open(path: &Path) -> io::Result<File> {
        let opened = match openat2(CWD, path, FILE, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // Kernels before 5.6, and sandboxes that do not allow the call.
            Err(Errno::NOSYS | Errno::PERM) => open_by_parts(path),
            opened => opened,
        };
        match opened {
            Ok(file) => Ok(file.into()),
            Err(Errno::LOOP) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens each folder of the path in the one before it.
    pub fn open_by_parts(path: &Path) -> Result<OwnedFd> {
        const FOLDER: OFlags = OFlags::PATH
            .union(OFlags::DIRECTORY)
            .union(OFlags::NOFOLLOW)
            .union(OFlags::CLOEXEC);
        let name = path.file_name().ok_or(Errno::ISDIR)?;
        let mut folder = open_path("/", FOLDER, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            if let Component::Normal(part) = part {
                folder = openat(&folder, part, FOLDER, Mode::empty())?;
            }
        }
        openat(&folder, name, FILE | OFlags::NOFOLLOW, Mode::empty())
    }
}

#[cfg(target_vendor = "apple")]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    pub fn open(path: &Path) -> io::Result<File> {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW_ANY;
        let opened = File::options().read(true).custom_flags(flags).open(path);
        opened.map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => io::ErrorKind::NotFound.into(),
            _ => error,
        })
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;

    /// These systems cannot refuse links, so that the file is compared after opening.
    pub fn open(path: &Path) -> io::Result<File> {
        let file = super::options().open(path)?;
        let created = file.metadata()?.created()?;
        let is_same =
            fs::canonicalize(path)? == path && fs::symlink_metadata(path)?.created()? == created;
        if is_same {
            Ok(file)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::reason::is_not_found;

    #[track_caller]
    fn check(open: fn(&Path) -> io::Result<File>) {
        let dir = tempfile::tempdir().unwrap();
        let dir = &fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(dir.join("d")).unwrap();
        fs::write(dir.join("d/a.md"), "x").unwrap();
        symlink("d", dir.join("link")).unwrap();
        symlink("a.md", dir.join("d/link.md")).unwrap();
        assert_eq!(
            open(&dir.join("d/a.md")).unwrap().metadata().unwrap().len(),
            1
        );
        for path in ["link/a.md", "d/link.md", "d/none.md", "d/a.md/b.md"] {
            let error = open(&dir.join(path)).unwrap_err();
            assert!(is_not_found(&error), "{path}: {error}");
        }
    }

    #[test]
    fn a_path_with_a_link_is_not_found() {
        check(open_unlinked_file);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_kernel_without_the_call_follows_no_links_either() {
        check(|path| match system::open_by_parts(path) {
            Err(rustix::io::Errno::LOOP) => Err(io::ErrorKind::NotFound.into()),
            opened => Ok(opened?.into()),
        });
    }
}
