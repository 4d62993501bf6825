//! Full disks, and data directories that cannot be used.

use super::transcript::Transcript;

#[test]
fn data_directories_that_cannot_be_used() {
    let mut s = Transcript::new();
    s.file("file", "in the way\n")
        .file("foreign/state.db", "x".repeat(4096));
    s.step("skills list --data-dir file")
        .step("skills list --data-dir file/below")
        .step("skills list --data-dir foreign")
        .step("skills list --data-dir foreign --json");
    s.matches("unusable_data_dir");
}

/// No user can create files in `/proc/self`, not even root.
#[cfg(target_os = "linux")]
#[test]
fn a_data_directory_that_is_read_only() {
    let mut s = Transcript::new();
    s.step("skills list --data-dir /proc/self")
        .step_with("skills register a - --data-dir /proc/self", "# A\n")
        .step("skills export /proc/self/out");
    s.matches("read_only_data_dir");
}

/// A limit on the size of files stands in for a full disk: writes past it fail. Its signal is
/// ignored because a full disk sends none.
#[cfg(unix)]
#[test]
fn a_full_disk() {
    let mut s = Transcript::new();
    s.file("small.md", "# Small\n")
        .file("big.md", "x".repeat(200_000));
    // Created before the disk is full.
    s.run("skills register small small.md");
    let on_full_disk = |s: &mut Transcript, line: &str| {
        // The unit is 512 bytes, or 1024 in bash.
        let output = super::mistakes::shell(s, &format!("trap '' XFSZ; ulimit -f 100; {line}"));
        s.note(line, &output);
    };
    on_full_disk(&mut s, "skills register big big.md");
    on_full_disk(&mut s, "skills read small");
    s.run("skills register big big.md");
    on_full_disk(&mut s, "skills export out");
    assert!(!s.path("out/big.md").exists(), "no partial file");
    let left: Vec<_> = std::fs::read_dir(s.path("out")).unwrap().collect();
    assert!(left.len() <= 1, "no temporary file: {left:?}");
    s.step("skills read small");
    // The disk has room again.
    assert_eq!(s.run("skills export out").code, 0);
    assert_eq!(std::fs::read(s.path("out/big.md")).unwrap().len(), 200_000);
    s.matches("full_disk");
}
