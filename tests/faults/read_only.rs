//! The data directory cannot be written.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

use skills_test_support::process::{output_of, skills_command, skills_path};

/// The user `nobody`: the permissions of files do not apply to root.
const NOBODY_UID: u32 = 65_534;

/// Runs a command as a user who may read the directory and not write it.
fn run(dir: &Path, args: &[&str], input: &str) -> Output {
    let mut command = skills_command();
    command
        .args(args)
        .arg("--data-dir")
        .arg(dir.join("data"))
        .current_dir("/");
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        // The folder of the build may be closed to others.
        let program = dir.join("skills");
        if !program.exists() {
            fs::copy(skills_path(), &program).unwrap();
        }
        let mut other = std::process::Command::new(program);
        other.args(command.get_args()).env_clear().current_dir("/");
        other.uid(NOBODY_UID).gid(NOBODY_UID);
        command = other;
    }
    output_of(command, input)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[track_caller]
fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_read_only_directory_is_an_error_that_names_it_and_works_again_when_it_is_writable() {
    let dir = tempfile::tempdir().unwrap();
    set_mode(dir.path(), 0o755);
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    set_mode(&data, 0o777);
    let registered = run(dir.path(), &["register", "a", "-"], "# A\n");
    assert!(registered.status.success(), "{}", text(&registered));

    let files: Vec<_> = fs::read_dir(&data)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    for file in &files {
        set_mode(file, 0o444);
    }
    set_mode(&data, 0o555);
    let refused = run(dir.path(), &["register", "b", "-"], "# B\n");
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    assert!(
        text(&refused).contains(data.to_str().unwrap()),
        "{}",
        text(&refused)
    );
    let served = run(
        dir.path(),
        &[
            "serve",
            "--url",
            "ws://127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
        ],
        "",
    );
    assert_eq!(served.status.code(), Some(1), "{}", text(&served));
    assert!(
        text(&served).contains(data.to_str().unwrap()),
        "{}",
        text(&served)
    );

    set_mode(&data, 0o777);
    for file in &files {
        set_mode(file, 0o666);
    }
    let registered = run(dir.path(), &["register", "b", "-"], "# B\n");
    assert!(registered.status.success(), "{}", text(&registered));
    let listed = run(dir.path(), &["list", "--json"], "");
    let listed = text(&listed);
    assert!(
        listed.contains(r#""id":"a""#) && listed.contains(r#""id":"b""#),
        "{listed}"
    );
}
