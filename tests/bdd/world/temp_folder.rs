//! A folder for one scenario, and the files that patterns find in it.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use memory_engine::Memory;
use skills_core::{Registry, RegistrySettings};
use skills_files::{FolderReport, Folders, Sources};
use tempfile::TempDir;

/// A temporary folder, created when it is first used.
#[derive(Default)]
pub struct TempFolder {
    place: Option<TempDir>,
    sources: Option<Sources>,
    registry: Option<Arc<Registry>>,
    /// The files that the patterns match.
    pub report: FolderReport,
}

impl fmt::Debug for TempFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.place)
    }
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
        self.load_sources(sources).await;
    }

    /// Loads the files of folders.
    pub async fn load_folders(&mut self, folders: &Folders) {
        let sources = Sources::with_folders(&self.path(""), [&[]; 3], folders);
        self.load_sources(sources).await;
    }

    async fn load_sources(&mut self, sources: Sources) {
        let report = sources.report().await.expect("the disk can be read");
        self.report = report.folder.expect("there are patterns");
        let (engine, now) = (Memory::new().connect(), || {
            "2026-01-01T00:00:00Z".to_owned()
        });
        let registry = Registry::new(
            engine,
            sources.for_registry(),
            RegistrySettings::default(),
            now,
        );
        registry.connected(true);
        self.registry = Some(Arc::new(registry));
        self.sources = Some(sources);
    }

    /// A registry of the loaded files.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(self.registry.as_ref().expect("patterns before"))
    }

    /// The source of the loaded files.
    pub fn sources(&self) -> &Sources {
        self.sources.as_ref().expect("patterns before")
    }
}
