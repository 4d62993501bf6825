//! Real folders that change, watched by the system and not.

use std::fs;
use std::path::Path;
use std::task::Poll;

use super::*;

/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_mins(1);
const NEVER: Duration = Duration::from_hours(24);

/// Only the system tells.
const TOLD: Pace = Pace {
    quiet: Duration::from_millis(20),
    patience: Duration::from_millis(200),
    poll: NEVER,
    heartbeat: NEVER,
    folders: 100,
};

/// Only time tells.
const TIMED: Pace = Pace {
    poll: Duration::from_millis(5),
    ..TOLD
};

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(work)
}

fn bell(pace: Pace) -> Watcher {
    let heard = Arc::new(Heard::default());
    let system = System::new(&heard);
    Watcher::with(pace, heard, Some(system))
}

async fn rings(bell: &mut Watcher, folders: &[PathBuf]) {
    let rung = timeout(LONG, bell.changed(folders)).await;
    rung.expect("the bell never rang");
}

/// Waits until the system has told that a path went away.
async fn hears_of(bell: &Watcher, gone: &Path) {
    let hearing = async {
        while !bell.heard.is_gone(gone) {
            bell.heard.rung().await;
        }
    };
    timeout(LONG, hearing).await.expect("nobody told");
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap();
    (dir, path)
}

#[test]
fn the_system_tells_what_comes_changes_and_goes() {
    run(async {
        let (_dir, path) = folder();
        let folders = [path.clone()];
        let mut bell = bell(TOLD);
        rings(&mut bell, &folders).await; // New to it.
        assert!(bell.said.is_none());
        fs::write(path.join("a.md"), "one").unwrap();
        rings(&mut bell, &folders).await;
        fs::write(path.join("a.md"), "two").unwrap();
        rings(&mut bell, &folders).await;
        fs::rename(path.join("a.md"), path.join("b.md")).unwrap();
        rings(&mut bell, &folders).await;
        fs::remove_file(path.join("b.md")).unwrap();
        rings(&mut bell, &folders).await;
    });
}

#[test]
fn a_folder_that_another_replaced_is_watched_again() {
    run(async {
        let (_dir, path) = folder();
        let sub = path.join("sub");
        let folders = [path.clone(), sub.clone()];
        fs::create_dir(&sub).unwrap();
        let mut bell = bell(TOLD);
        rings(&mut bell, &folders).await;
        let replace: [fn(&Path); 2] = [
            |sub| {
                fs::remove_dir(sub).unwrap();
                fs::create_dir(sub).unwrap();
            },
            |sub| {
                fs::rename(sub, sub.with_extension("old")).unwrap();
                fs::create_dir(sub).unwrap();
            },
        ];
        for replace in replace {
            replace(&sub);
            hears_of(&bell, &sub).await;
            rings(&mut bell, &folders).await; // New to it.
            // Only whoever watches the new folder is told of this.
            let file = sub.join("a.md");
            fs::write(&file, "one").unwrap();
            fs::remove_file(&file).unwrap();
            hears_of(&bell, &file).await;
        }
    });
}

#[test]
fn many_rings_are_heard_as_one() {
    run(async {
        let mut bell = bell(TOLD);
        for _ in 0..100 {
            bell.heard.ring();
        }
        rings(&mut bell, &[]).await;
        let heard = Arc::clone(&bell.heard);
        let mut second = Box::pin(bell.changed(&[]));
        // Polled until it has nothing left to do but wait.
        for _ in 0..100 {
            let pending = std::future::poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx)));
            assert!(pending.await.is_pending());
            tokio::task::yield_now().await;
        }
        heard.ring();
        timeout(LONG, second).await.expect("it still rings");
    });
}

#[test]
fn where_nobody_tells_time_does() {
    run(async {
        let (_dir, path) = folder();
        let absent = path.join("not/there/yet");
        let one = std::slice::from_ref(&absent);
        let mut bell = bell(TIMED);
        rings(&mut bell, one).await;
        let said = bell.said.clone().unwrap();
        assert!(said.contains("not/there/yet"), "{said}");
        fs::create_dir_all(&absent).unwrap();
        rings(&mut bell, one).await;
        assert_eq!(bell.said, None, "from now on the system tells");

        let two = [path.clone(), absent.clone()];
        bell.pace.folders = 1;
        rings(&mut bell, &two).await;
        let said = bell.said.clone().unwrap();
        assert!(said.contains("more than 1 folders"), "{said}");
        assert!(!bell.system.as_ref().unwrap().is_watched(&path));

        let mut bell = Watcher::with(TIMED, Arc::default(), None);
        rings(&mut bell, &two).await;
        assert!(bell.said.as_ref().unwrap().contains("cannot be watched"));
    });
}
