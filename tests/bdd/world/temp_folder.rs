//! A folder for one scenario, and the files that patterns find in it.

use std::fs;
use std::path::PathBuf;

use skills_files::{Folder, FolderReport};
use tempfile::TempDir;

/// A temporary folder, created when it is first used.
#[derive(Debug, Default)]
pub struct TempFolder {
    place: Option<TempDir>,
    folder: Option<Folder>,
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
        let folder = Folder::new(&self.path(""), skills, prompts);
        self.report = folder.report().await.expect("the disk can be read");
        self.folder = Some(folder);
    }

    /// The source of the loaded files.
    pub fn folder(&self) -> &Folder {
        self.folder.as_ref().expect("patterns before")
    }
}
