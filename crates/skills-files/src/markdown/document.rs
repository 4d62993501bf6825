//! Reading one markdown file: how large, which encoding, what is body.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use skills_core::{BODY_MAX, front_matter};

use crate::scan::{NO_FILE, said_by};

/// The largest front matter, in bytes, fences included.
const FRONT_MATTER_MAX: usize = 65_536;
/// The longest file that can hold a document, byte order mark included.
const FILE_MAX: usize = BODY_MAX + FRONT_MATTER_MAX + 3;

/// A file that was read.
#[derive(Debug)]
pub struct Document {
    /// Its front matter, without the fences.
    pub front_matter: Option<String>,
    /// What follows the front matter, untouched.
    pub body: Arc<str>,
    /// When it last changed.
    pub changed_at: Arc<str>,
}

/// Why a file that is there is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unserved {
    /// What it holds cannot be served; only an edit helps.
    Unfit(String),
    /// The system would not let us read it.
    Unread(String),
}

impl Unserved {
    /// The reason and the fix.
    pub fn reason(self) -> String {
        match self {
            Self::Unfit(reason) | Self::Unread(reason) => reason,
        }
    }
}

impl From<String> for Unserved {
    fn from(reason: String) -> Self {
        Self::Unfit(reason)
    }
}

impl From<&io::Error> for Unserved {
    fn from(error: &io::Error) -> Self {
        Self::Unread(said_by(error))
    }
}

/// Reads a file. None if it is gone.
pub fn read(path: &Path) -> Result<Option<Document>, Unserved> {
    match bytes(path) {
        Ok(Ok((bytes, metadata))) => Ok(Some(document(bytes, changed_at(&metadata)?)?)),
        Ok(Err(reason)) => Err(reason.into()),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err((&error).into()),
    }
}

/// Whether an error says that there is nothing at a path.
pub fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn bytes(path: &Path) -> io::Result<Result<(Vec<u8>, Metadata), String>> {
    // To open some devices does something to them.
    if !std::fs::metadata(path)?.is_file() {
        return Ok(Err(NO_FILE.into()));
    }
    content(&open(path)?)
}

/// Opens a file without ever waiting: another may have taken its place by now, and a
/// pipe that nobody writes to would wait forever.
fn open(path: &Path) -> io::Result<File> {
    #[cfg(test)]
    OPENED.set(OPENED.get() + 1);
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options.open(path)
}

#[cfg(test)]
thread_local! {
    /// How many files this thread has opened.
    pub static OPENED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn content(file: &File) -> io::Result<Result<(Vec<u8>, Metadata), String>> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Err(NO_FILE.into()));
    }
    let length = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    if length > FILE_MAX {
        return Ok(Err(too_large(&format!("{length} bytes"))));
    }
    Ok(read_all(file, length)?.map(|bytes| (bytes, metadata)))
}

/// Reads to the end, which may be further than the length said: a file can grow.
fn read_all(from: impl Read, length: usize) -> io::Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::with_capacity(length + 1);
    from.take(FILE_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > FILE_MAX {
        return Ok(Err(too_large(&format!("more than {FILE_MAX} bytes"))));
    }
    Ok(Ok(bytes))
}

fn document(bytes: Vec<u8>, changed_at: Arc<str>) -> Result<Document, String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("is not UTF-8 (at byte {at}); save it as UTF-8")
    })?;
    let (front_matter, body) = front_matter::split(&text);
    if front_matter.is_some_and(|front| front.len() > FRONT_MATTER_MAX) {
        return Err(format!(
            "has front matter of more than {FRONT_MATTER_MAX} bytes; shorten it"
        ));
    }
    if body.len() > BODY_MAX {
        return Err(too_large(&format!("{} bytes", body.len())));
    }
    if body.trim().is_empty() {
        return Err(match front_matter {
            Some(_) => "has no text after the front matter; write some".into(),
            None => "is empty; write some text or delete it".into(),
        });
    }
    Ok(Document {
        front_matter: front_matter.map(str::to_owned),
        body: body.into(),
        changed_at,
    })
}

fn too_large(size: &str) -> String {
    format!("is too large: {size}, at most {BODY_MAX}; split it into several files")
}

/// The modification time as RFC 3339 in UTC, with microseconds.
pub fn changed_at(metadata: &Metadata) -> Result<Arc<str>, String> {
    let modified = metadata.modified().map_err(|error| said_by(&error))?;
    let at = jiff::Timestamp::try_from(modified)
        .map_err(|_| "has a modification time out of all bounds; `touch` it".to_owned())?;
    Ok(at.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, bytes).unwrap();
        match (read(&path), expected) {
            (Ok(Some(document)), Ok(body)) => assert_eq!(&*document.body, body),
            (Err(Unserved::Unfit(reason)), Err(expected)) => {
                assert!(reason.contains(expected), "{reason}");
            }
            (got, _) => panic!("expected {expected:?}, got {got:?}"),
        }
    }

    #[test]
    fn bodies() {
        check(b"# A\n", Ok("# A\n"));
        check(b"\xef\xbb\xbf# A\n", Ok("# A\n"));
        check(b"# A\r\n\r\nText\r\n", Ok("# A\r\n\r\nText\r\n"));
        check(b"---\nx: 1\n---\n\n# A\n", Ok("\n# A\n"));
        check(b"---\nunclosed\n", Ok("---\nunclosed\n"));
        check(b"", Err("is empty"));
        check(b"\xef\xbb\xbf", Err("is empty"));
        check(b" \n\t\r\n", Err("is empty"));
        check(
            b"---\nx: 1\n---\n \n",
            Err("no text after the front matter"),
        );
        check(b"# A\n\xff", Err("is not UTF-8 (at byte 4)"));
    }

    #[test]
    fn sizes_at_their_edge() {
        let body = |bytes: usize| "a".repeat(bytes);
        check(body(262_144).as_bytes(), Ok(&body(262_144)));
        check(
            body(262_145).as_bytes(),
            Err("is too large: 262145 bytes, at most 262144"),
        );
        let fronted = |bytes: usize| format!("---\nx: 1\n---\n{}", body(bytes));
        check(fronted(262_144).as_bytes(), Ok(&body(262_144)));
        check(fronted(262_145).as_bytes(), Err("is too large"));
        check(&vec![b'a'; 1_000_000], Err("is too large: 1000000 bytes"));
        let front = format!("---\nx: {}\n---\ny", body(70_000));
        check(front.as_bytes(), Err("has front matter of more than 65536"));
        // It grows faster than it is read.
        let reason = read_all(io::repeat(b'a'), 10).unwrap().unwrap_err();
        assert!(reason.contains("is too large: more than "), "{reason}");
    }

    #[test]
    fn the_time_is_the_modification_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "# A").unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_012);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        let document = read(&path).unwrap().unwrap();
        assert_eq!(&*document.changed_at, "2023-11-14T22:13:20.000012Z");
    }

    #[test]
    fn what_is_gone_is_no_problem_and_a_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(&folder.path().join("gone.md")).unwrap().is_none());
        let reason = read(folder.path()).unwrap_err().reason();
        assert!(reason.contains("no regular file"), "{reason}");
        // A file where a folder should be: there is nothing below it.
        fs::write(folder.path().join("a"), "x").unwrap();
        assert!(read(&folder.path().join("a/b.md")).unwrap().is_none());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_taken_for_a_bad_one() {
        // Longer than any file system takes.
        let path = Path::new("/").join("a".repeat(10_000));
        let unserved = read(&path).unwrap_err();
        assert!(matches!(&unserved, Unserved::Unread(_)), "{unserved:?}");
        assert!(unserved.reason().contains("cannot be read: "));
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let reason = Unserved::from(&denied).reason();
        assert!(reason.contains("may not be read; give"), "{reason}");
    }

    #[test]
    fn a_time_out_of_all_bounds_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "# A").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        // Not every file system takes a time so far away, and then there is nothing to refuse.
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        let taken = file.set_modified(far).is_ok();
        let kept = fs::metadata(&path).unwrap().modified().unwrap() == far;
        let refused = read(&path).is_err_and(|it| it.reason().contains("out of all bounds"));
        assert_eq!(refused, taken && kept);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_or_device_that_took_a_files_place_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        // Past the first look, as if it had been swapped in after it.
        for path in [&path, Path::new("/dev/zero"), folder.path()] {
            let file = open(path).unwrap();
            assert_eq!(content(&file).unwrap().unwrap_err(), NO_FILE);
        }
    }
}
