//! Reads one markdown file: size, encoding, front matter and body.

use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;

use skills_core::{BODY_MAX, front_matter};

use crate::file_set::Unserved;
use crate::read_file::{FileContent, ReadFileError, read_file};
use crate::rfc3339::rfc3339;
use crate::scan::{NOT_A_FILE, io_reason};

/// The largest front matter, in bytes, fences included.
const FRONT_MATTER_MAX: usize = 65_536;
/// The longest file that can hold front matter and body, with a byte order mark.
const FILE_MAX: usize = BODY_MAX + FRONT_MATTER_MAX + 3;

/// The text of a markdown file.
#[derive(Debug)]
pub struct MarkdownContent {
    /// Its front matter, without the fences.
    pub front_matter: Option<String>,
    /// What follows the front matter, unchanged.
    pub body: Arc<str>,
    /// When it was last modified.
    pub modified_at: Arc<str>,
}

impl MarkdownContent {
    /// Reads a file; `None` if it does not exist.
    pub fn read(path: &Path) -> Result<Option<Self>, Unserved> {
        match read_file(path, FILE_MAX) {
            Ok(FileContent { bytes, metadata }) => {
                Ok(Some(Self::parse(bytes, modified_at(&metadata)?)?))
            }
            Err(error) if error.is_not_found() => Ok(None),
            Err(ReadFileError::Directory | ReadFileError::NotRegular) => {
                Err(NOT_A_FILE.to_owned().into())
            }
            Err(ReadFileError::TooLarge { bytes }) => Err(too_large(bytes).into()),
            Err(ReadFileError::Io(error)) => Err(Unserved::Unreadable(io_reason(&error))),
        }
    }

    fn parse(bytes: Vec<u8>, modified_at: Arc<str>) -> Result<Self, String> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            format!("is not UTF-8 (at byte {at}); save it as UTF-8")
        })?;
        let (front_matter, body) = front_matter::split(&text);
        if front_matter.is_some_and(|yaml| yaml.len() > FRONT_MATTER_MAX) {
            return Err(format!(
                "has front matter of more than {FRONT_MATTER_MAX} bytes; shorten it"
            ));
        }
        if body.len() > BODY_MAX {
            return Err(too_large(body.len() as u64));
        }
        if body.trim().is_empty() {
            return Err(match front_matter {
                Some(_) => "has no text after the front matter; write some".into(),
                None => "is empty; write some text or delete it".into(),
            });
        }
        Ok(Self {
            front_matter: front_matter.map(str::to_owned),
            body: body.into(),
            modified_at,
        })
    }
}

fn too_large(bytes: u64) -> String {
    format!("is too large: {bytes} bytes, at most {BODY_MAX}; split it into several files")
}

/// The modification time as RFC 3339.
pub fn modified_at(metadata: &Metadata) -> Result<Arc<str>, String> {
    let modified = metadata.modified().map_err(|error| io_reason(&error))?;
    let text = rfc3339(modified)
        .ok_or_else(|| "has a modification time out of range; `touch` it".to_owned())?;
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<&str, &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, bytes).unwrap();
        match (MarkdownContent::read(&path), expected) {
            (Ok(Some(content)), Ok(body)) => assert_eq!(&*content.body, body),
            (Err(Unserved::Invalid(reason)), Err(expected)) => {
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
    fn sizes_at_the_limits() {
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
    }

    #[test]
    fn the_time_is_the_modification_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "# A").unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_012);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
        let content = MarkdownContent::read(&path).unwrap().unwrap();
        assert_eq!(&*content.modified_at, "2023-11-14T22:13:20.000012Z");
    }

    #[test]
    fn a_missing_file_is_not_reported_and_a_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        let missing = MarkdownContent::read(&folder.path().join("gone.md"));
        assert!(missing.unwrap().is_none());
        let reason = MarkdownContent::read(folder.path()).unwrap_err().reason();
        assert!(reason.contains("not a regular file"), "{reason}");
    }

    #[test]
    fn an_unreadable_file_is_not_invalid() {
        // Longer than any file system allows.
        let path = Path::new("/").join("a".repeat(10_000));
        let unserved = MarkdownContent::read(&path).unwrap_err();
        assert!(matches!(&unserved, Unserved::Unreadable(_)), "{unserved:?}");
        assert!(unserved.reason().contains("cannot be read: "));
    }

    #[test]
    fn a_time_out_of_range_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, "# A").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        // Not every file system can store this time; then there is nothing to refuse.
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40);
        let taken = file.set_modified(far).is_ok();
        let kept = fs::metadata(&path).unwrap().modified().unwrap() == far;
        let refused = MarkdownContent::read(&path)
            .is_err_and(|unserved| unserved.reason().contains("out of range"));
        assert_eq!(refused, taken && kept);
    }
}
