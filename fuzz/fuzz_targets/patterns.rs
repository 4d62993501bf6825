//! Any text as patterns of files, one per line, on a small folder.

#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use skills_files::Sources;
use skills_fuzz::block_on;
use tempfile::TempDir;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.md", "B.md", "sub/c.md", "sub/[d].md", "sub/e f.md", "sub/deep/g.3md"] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "# Text\n").unwrap();
    }
    dir
});

fuzz_target!(|text: &str| {
    // Patterns that leave the folder would walk the machine.
    let inside = |line: &&str| !line.starts_with('/') && !line.contains("..");
    let patterns: Vec<_> = text.lines().filter(inside).take(8).map(str::to_owned).collect();
    let sources = Sources::new(FOLDER.path(), &patterns, &patterns, &patterns);
    block_on(async { drop(sources.report().await) });
});
