//! A folder for one scenario, and the files that patterns find in it.

use std::fs;
use std::path::PathBuf;

use skills_files::{FolderReport, Sources};
use tempfile::TempDir;

/// A temporary folder, created when it is first used.
#[derive(Debug, Default)]
pub struct TempFolder {
    place: Option<TempDir>,
    sources: Option<Sources>,
    /// The files that the patterns match.
    pub report: FolderReport,
}

impl TempFolder {
    /// The path of a file in this folder.
    pub fn path(&mut self, path: &str) -> PathBuf {
        let place = self
            .place
            .get_or_insert_with(|| tempfile::tempdir().expect("a temporary folder"));
        let place = fs::canonicalize(place.path()).expect("the folder exists");
        path.split('/').fold(place, |place, name| place.join(name))
    }

    /// Writes a file and the folders above it.
    pub fn write(&mut self, path: &str, text: &str) {
        let path = self.path(path);
        let parent = path.parent().expect("a file is in a folder");
        fs::create_dir_all(parent).expect("the folder can be created");
        fs::write(path, text).expect("the file can be written");
    }

    /// Loads the files that the patterns match.
    pub async fn load(&mut self, skills: &[String], prompts: &[String]) {
        let sources = Sources::new(&self.path(""), skills, prompts, &[]);
        let report = sources.report().await.expect("the disk can be read");
        self.report = report.folder.expect("there are patterns");
        self.sources = Some(sources);
    }

    /// The source of the loaded files.
    pub fn sources(&self) -> &Sources {
        self.sources.as_ref().expect("patterns before")
    }
}
