//! A `.tar.gz` of a few files with the same bytes for the same files: no times, no owners. The
//! content is stored without compression, which every reader accepts.

/// Bytes of a record of a tar file.
const RECORD: usize = 512;
/// Bytes of the largest stored block of a deflate stream.
const STORED_MAX: usize = 65_535;

/// A file of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    pub path: &'a str,
    pub content: &'a [u8],
    pub is_executable: bool,
}

/// The archive of files; `None` if a path is too long for a tar file.
pub fn tar_gz<'a>(files: impl IntoIterator<Item = Member<'a>>) -> Option<Vec<u8>> {
    let mut tar = Vec::new();
    for file in files {
        tar.extend(header(&file)?);
        tar.extend(file.content);
        tar.resize(tar.len().next_multiple_of(RECORD), 0);
    }
    // Two empty records end it.
    tar.resize(tar.len() + 2 * RECORD, 0);
    Some(gzip(&tar))
}

/// The ustar header of a regular file.
fn header(file: &Member<'_>) -> Option<[u8; RECORD]> {
    let (prefix, name) = split(file.path)?;
    let mut header = [0; RECORD];
    let mut put = |at: usize, text: &str| {
        header[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    put(0, name);
    let mode = if file.is_executable {
        "0000755\0"
    } else {
        "0000644\0"
    };
    put(100, mode);
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{:011o}\0", file.content.len()));
    put(136, "00000000000\0");
    // The sum is computed with blanks in its place.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0");
    put(263, "00");
    put(345, prefix);
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    Some(header)
}

/// A path as the two fields of a header: at most 155 bytes, a slash, at most 100 bytes.
fn split(path: &str) -> Option<(&str, &str)> {
    if path.len() <= 100 {
        return Some(("", path));
    }
    let mut slashes = path.match_indices('/');
    let (at, _) = slashes.find(|(at, _)| path.len() - at - 1 <= 100)?;
    (at <= 155 && at + 1 < path.len()).then(|| (&path[..at], &path[at + 1..]))
}

/// A gzip member with stored blocks.
fn gzip(content: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = content.chunks(STORED_MAX).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    out.extend(crc32(content).to_le_bytes());
    // The length modulo 2^32; an archive has at most 16 MiB.
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    out.extend(length.to_le_bytes());
    out
}

fn crc32(content: &[u8]) -> u32 {
    const TABLE: [u32; 256] = crc_table();
    !content.iter().fold(!0, |crc: u32, byte| {
        let [low, ..] = crc.to_le_bytes();
        TABLE[usize::from(low ^ byte)] ^ (crc >> 8)
    })
}

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at: u32 = 0;
    while at < 256 {
        let mut value = at;
        let mut bit = 0;
        while bit < 8 {
            value = (value >> 1) ^ (0xedb8_8320 & (value & 1).wrapping_neg());
            bit += 1;
        }
        table[at as usize] = value;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member<'a>(path: &'a str, content: &'a [u8]) -> Member<'a> {
        Member {
            path,
            content,
            is_executable: false,
        }
    }

    #[test]
    fn an_executable_file_stays_one() {
        let script = Member {
            is_executable: true,
            ..member("run.sh", b"")
        };
        let modes = [script, member("SKILL.md", b"")].map(|file| {
            let header = header(&file).unwrap();
            String::from_utf8_lossy(&header[100..107]).into_owned()
        });
        assert_eq!(modes, ["0000755", "0000644"]);
    }

    #[test]
    fn sums_and_paths() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(split("a/b"), Some(("", "a/b")));
        let long = format!("{}/{}", "d".repeat(120), "f".repeat(90));
        let (prefix, name) = split(&long).unwrap();
        assert_eq!((prefix.len(), name.len()), (120, 90));
        assert_eq!(split(&"a".repeat(101)), None);
        assert_eq!(split(&format!("{}/b", "a".repeat(200))), None);
        assert_eq!(tar_gz([member(&"a".repeat(101), b"")]), None);
    }

    #[test]
    fn the_same_files_have_the_same_bytes() {
        let large = vec![7; 100_000];
        let files = [member("SKILL.md", b"# A"), member("a/large", &large)];
        let archive = tar_gz(files).unwrap();
        assert_eq!(Some(&archive), tar_gz(files).as_ref());
        assert_eq!(archive[..4], [0x1f, 0x8b, 8, 0]);
    }
}
