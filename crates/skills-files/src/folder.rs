//! The markdown files below one folder that a person named, by the rules of the patterns:
//! links are followed inside the folder only.

use std::io;
use std::path::{Path, PathBuf};

use skills_core::Skipped;

use crate::pattern::Pattern;
use crate::read_file::{FileContent, ReadFileError, read_unlinked_file};
use crate::reason::display_path;
use crate::scan::{FoundFile, Limits, NO_MATCH, SkillMd, scan};

/// The files of a folder, and what is left out.
#[derive(Debug, Default)]
pub struct MarkdownFolder {
    /// The files, in byte order of their paths.
    pub files: Vec<MarkdownFile>,
    /// What cannot be read, by its path below the folder.
    pub skipped: Vec<Skipped>,
}

/// A file below a folder.
#[derive(Debug)]
pub struct MarkdownFile {
    /// Its path below the folder, with `/` on every platform.
    pub name: String,
    real_path: PathBuf,
}

impl MarkdownFolder {
    /// Finds the files that end in `.md`. Hidden files and folders are left out. Fails if the
    /// folder cannot be listed.
    pub fn find(folder: &Path) -> io::Result<Self> {
        // The walk reports a folder that cannot be read; here it is an error.
        drop(folder.read_dir()?);
        let root = display_path(&folder.canonicalize()?);
        let found = Pattern::of_folder(folder, ".md")
            .and_then(|pattern| scan(&[pattern], Limits::DEFAULT, SkillMd::File))
            .map_err(io::Error::other)?;
        let below = |skipped: Skipped| Skipped {
            place: match skipped.place.strip_prefix(&root) {
                Some(name) => name.trim_start_matches(std::path::is_separator).to_owned(),
                None => skipped.place,
            },
            reason: skipped.reason,
        };
        let skipped = found.skipped.into_iter();
        let skipped = skipped.filter(|skipped| skipped.reason != NO_MATCH);
        Ok(Self {
            files: found.found.into_iter().map(MarkdownFile::new).collect(),
            skipped: skipped.map(below).collect(),
        })
    }
}

impl MarkdownFile {
    fn new(found: FoundFile) -> Self {
        let parts = found.relative.iter().map(|part| part.to_string_lossy());
        Self {
            name: parts.collect::<Vec<_>>().join("/"),
            real_path: found.target.unwrap_or(found.path),
        }
    }

    /// Reads it, at most `limit` bytes.
    pub fn read(&self, limit: usize) -> Result<FileContent, ReadFileError> {
        read_unlinked_file(&self.real_path, limit)
    }
}
