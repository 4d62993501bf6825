//! Connects the disks to SQLite: its table of functions for files (a VFS).
//!
//! SQLite passes each function a pointer to the [`OpenFile`] that `open` filled in, and calls none
//! after `close`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, Once};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};

use crate::node::Node;
use crate::{Disk, Done, disks};

/// The size of a sector as Unix systems report it.
const SECTOR_SIZE: c_int = 4096;

/// A file as SQLite sees it: the first field is the table of its functions.
#[repr(C)]
struct OpenFile {
    base: sqlite3_file,
    handle: *mut Handle,
}

/// What a connection has open.
struct Handle {
    disk: Arc<Disk>,
    node: u64,
    /// Distinguishes connections to the same node.
    number: u64,
}

impl Handle {
    fn with_node<T>(&self, work: impl FnOnce(&mut Node) -> T) -> Done<T> {
        self.disk.state().node(self.node).map(work)
    }
}

static FUNCTIONS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Makes this the VFS of every connection that is opened from now on.
pub(crate) fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the default VFS exists for the life of the process, and so does the leaked copy.
        // The functions that stay (time, sleep, randomness) do not use the pointer to their VFS.
        unsafe {
            let mut vfs: sqlite3_vfs = *ffi::sqlite3_vfs_find(ptr::null());
            vfs.szOsFile = c_int::try_from(size_of::<OpenFile>()).unwrap();
            vfs.zName = c"simulated".as_ptr();
            vfs.pNext = ptr::null_mut();
            vfs.xOpen = Some(open);
            vfs.xDelete = Some(delete);
            vfs.xAccess = Some(access);
            vfs.xFullPathname = Some(full_pathname);
            let registered = ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 1);
            assert_eq!(registered, ffi::SQLITE_OK);
        }
    });
}

fn code(done: Done) -> c_int {
    done.err().unwrap_or(ffi::SQLITE_OK)
}

/// The disk and the name of a path.
///
/// # Safety
/// `path` points to a C string.
unsafe fn locate<'a>(path: *const c_char) -> Done<(Arc<Disk>, &'a str)> {
    let path = unsafe { CStr::from_ptr(path) };
    let path = path.to_str().map_err(|_| ffi::SQLITE_CANTOPEN)?;
    let dir = Path::new(path)
        .parent()
        .and_then(|dir| disks().get(dir).cloned());
    Ok((dir.ok_or(ffi::SQLITE_CANTOPEN)?, path))
}

/// # Safety
/// `file` is a file that `open` has opened and `close` has not closed.
unsafe fn handle<'a>(file: *mut sqlite3_file) -> &'a Handle {
    unsafe { &*(*file.cast::<OpenFile>()).handle }
}

fn offset(offset: i64) -> usize {
    usize::try_from(offset).expect("SQLite passes no negative numbers")
}

fn len(len: c_int) -> usize {
    offset(len.into())
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    // SAFETY: SQLite passes a path, or null for a temporary file, and memory for an `OpenFile`.
    unsafe {
        (*file).pMethods = ptr::null();
        let located = if path.is_null() {
            Ok((Arc::default(), None))
        } else {
            locate(path).map(|(disk, name)| (disk, Some(name)))
        };
        let opened = located.and_then(|(disk, name)| {
            let node = disk.state().open(name, flags)?;
            Ok((disk, node))
        });
        let (disk, node) = match opened {
            Ok(opened) => opened,
            Err(code) => return code,
        };
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let handle = Box::into_raw(Box::new(Handle { disk, node, number }));
        file.cast::<OpenFile>().write(OpenFile {
            base: sqlite3_file {
                pMethods: &raw const FUNCTIONS,
            },
            handle,
        });
        if !out_flags.is_null() {
            *out_flags = flags;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, path: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite passes a path.
    let located = unsafe { locate(path) };
    code(located.and_then(|(disk, name)| disk.state().delete(name, sync != 0)))
}

unsafe extern "C" fn access(
    _: *mut sqlite3_vfs,
    path: *const c_char,
    _: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes a path, and where to put the result.
    unsafe {
        let found = locate(path).is_ok_and(|(disk, name)| disk.state().exists(name));
        *out = c_int::from(found);
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    _: *mut sqlite3_vfs,
    path: *const c_char,
    size: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: SQLite passes a path, and `size` bytes for the result.
    unsafe {
        let path = CStr::from_ptr(path).to_bytes_with_nul();
        if path.len() > len(size) {
            return ffi::SQLITE_CANTOPEN;
        }
        ptr::copy_nonoverlapping(path.as_ptr().cast(), out, path.len());
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: the file is open, and SQLite uses it no more.
    let handle = unsafe { Box::from_raw((*file.cast::<OpenFile>()).handle) };
    let left = handle.with_node(|node| {
        node.locks.unlock(handle.number, ffi::SQLITE_LOCK_NONE);
        node.memory.leave(handle.number);
    });
    code(left)
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    into: *mut c_void,
    size: c_int,
    at: i64,
) -> c_int {
    // SAFETY: the file is open, and `into` has `size` bytes.
    let (file, into) = unsafe {
        let into = slice::from_raw_parts_mut(into.cast::<u8>(), len(size));
        (handle(file), into)
    };
    code(file.disk.state().read(file.node, offset(at), into))
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    size: c_int,
    at: i64,
) -> c_int {
    // SAFETY: the file is open, and `from` has `size` bytes.
    let (file, from) = unsafe {
        let from = slice::from_raw_parts(from.cast::<u8>(), len(size));
        (handle(file), from)
    };
    code(file.disk.state().write(file.node, offset(at), from))
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: i64) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { handle(file) };
    code(file.disk.state().truncate(file.node, offset(size)))
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { handle(file) };
    code(file.disk.state().sync(file.node))
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, out: *mut i64) -> c_int {
    // SAFETY: the file is open, and `out` is where to put the result.
    let (file, out) = unsafe { (handle(file), &mut *out) };
    code(file.with_node(|node| *out = i64::try_from(node.len()).unwrap_or(i64::MAX)))
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { handle(file) };
    let locked = file.with_node(|node| node.locks.lock(file.number, level));
    code(locked.flatten())
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { handle(file) };
    code(file.with_node(|node| node.locks.unlock(file.number, level)))
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    // SAFETY: the file is open, and `out` is where to put the result.
    let (file, out) = unsafe { (handle(file), &mut *out) };
    code(file.with_node(|node| *out = c_int::from(node.locks.is_reserved())))
}

unsafe extern "C" fn file_control(_: *mut sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(_: *mut sqlite3_file) -> c_int {
    SECTOR_SIZE
}

unsafe extern "C" fn device_characteristics(_: *mut sqlite3_file) -> c_int {
    // As Unix systems do: a write changes no byte outside its range.
    ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    region: c_int,
    size: c_int,
    create: c_int,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: the file is open, and `out` is where to put the result. The region is of atomics, so
    // it may be written through a shared pointer, and it lives until its last user is gone.
    let (file, out) = unsafe { (handle(file), &mut *out) };
    *out = ptr::null_mut();
    code(file.with_node(|node| {
        let memory = &mut node.memory;
        let found = memory.region(file.number, len(region), len(size), create != 0);
        if let Some(words) = found {
            *out = words.as_ptr().cast_mut().cast();
        }
    }))
}

unsafe extern "C" fn shm_lock(
    file: *mut sqlite3_file,
    first: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { handle(file) };
    let (first, n) = (len(first), len(n));
    let exclusive = flags & ffi::SQLITE_SHM_EXCLUSIVE != 0;
    let done = file.with_node(|node| {
        if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
            node.memory.unlock(file.number, first, n);
            Ok(())
        } else {
            node.memory.lock(file.number, first, n, exclusive)
        }
    });
    code(done.flatten())
}

unsafe extern "C" fn shm_barrier(_: *mut sqlite3_file) {
    fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, _: c_int) -> c_int {
    // SAFETY: the file is open.
    let file = unsafe { handle(file) };
    code(file.with_node(|node| node.memory.leave(file.number)))
}
