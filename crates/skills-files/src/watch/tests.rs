//! Changes in real folders, watched by the system and polled.

use std::fs;
use std::path::Path;
use std::task::Poll;

use super::*;

/// Longer than anything here takes on a busy machine.
const TEST_TIMEOUT: Duration = Duration::from_mins(1);
const NEVER: Duration = Duration::from_hours(24);

/// Only events of the system count.
const EVENTS_ONLY: Timing = Timing {
    debounce: Duration::from_millis(20),
    debounce_max: Duration::from_millis(200),
    poll_interval: NEVER,
    rescan_interval: NEVER,
    folders_max: 100,
};

/// Folders that are not watched are polled.
const POLLING: Timing = Timing {
    poll_interval: Duration::from_millis(5),
    ..EVENTS_ONLY
};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(work)
}

async fn changed(watcher: &mut Watcher, folders: &[PathBuf]) {
    let changed = timeout(TEST_TIMEOUT, watcher.changed(folders)).await;
    changed.expect("a change is reported");
}

/// Waits until the system has reported that a path was moved or removed.
async fn removed(watcher: &Watcher, path: &Path) {
    let reported = async {
        while !watcher.events.is_removed(path) {
            watcher.events.wait().await;
        }
    };
    let reported = timeout(TEST_TIMEOUT, reported).await;
    reported.expect("the removal is reported");
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(dir.path()).unwrap();
    (dir, path)
}

#[test]
fn files_that_are_created_changed_and_removed_are_reported() {
    block_on(async {
        let (_dir, path) = folder();
        let folders = [path.clone()];
        let mut watcher = Watcher::with(EVENTS_ONLY);
        changed(&mut watcher, &folders).await; // Not watched before.
        assert!(watcher.unwatched.is_none());
        fs::write(path.join("a.md"), "one").unwrap();
        changed(&mut watcher, &folders).await;
        fs::write(path.join("a.md"), "two").unwrap();
        changed(&mut watcher, &folders).await;
        fs::rename(path.join("a.md"), path.join("b.md")).unwrap();
        changed(&mut watcher, &folders).await;
        fs::remove_file(path.join("b.md")).unwrap();
        changed(&mut watcher, &folders).await;
    });
}

#[test]
fn a_replaced_folder_is_watched_again() {
    block_on(async {
        let (_dir, path) = folder();
        let sub = path.join("sub");
        let folders = [path.clone(), sub.clone()];
        fs::create_dir(&sub).unwrap();
        let mut watcher = Watcher::with(EVENTS_ONLY);
        changed(&mut watcher, &folders).await;
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
            removed(&watcher, &sub).await;
            changed(&mut watcher, &folders).await; // Not watched before.
            // Only a watch on the new folder reports this.
            let file = sub.join("a.md");
            fs::write(&file, "one").unwrap();
            fs::remove_file(&file).unwrap();
            removed(&watcher, &file).await;
        }
    });
}

#[test]
fn many_events_are_reported_once() {
    block_on(async {
        let mut watcher = Watcher::with(EVENTS_ONLY);
        for _ in 0..100 {
            watcher.events.add();
        }
        changed(&mut watcher, &[]).await;
        let events = Arc::clone(&watcher.events);
        let mut second = Box::pin(watcher.changed(&[]));
        // Polled until only an event is missing.
        for _ in 0..100 {
            let polled = std::future::poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx)));
            assert!(polled.await.is_pending());
            tokio::task::yield_now().await;
        }
        events.add();
        let reported = timeout(TEST_TIMEOUT, second).await;
        reported.expect("a later event is reported");
    });
}

#[test]
fn folders_that_cannot_be_watched_are_polled() {
    block_on(async {
        let (_dir, path) = folder();
        let absent = path.join("not/there/yet");
        let one = std::slice::from_ref(&absent);
        let mut watcher = Watcher::with(POLLING);
        changed(&mut watcher, one).await;
        let reason = watcher.unwatched.clone().unwrap();
        assert!(reason.contains("not/there/yet"), "{reason}");
        fs::create_dir_all(&absent).unwrap();
        changed(&mut watcher, one).await;
        assert_eq!(watcher.unwatched, None, "watched from now on");

        let two = [path.clone(), absent.clone()];
        watcher.timing.folders_max = 1;
        changed(&mut watcher, &two).await;
        let reason = watcher.unwatched.clone().unwrap();
        assert!(reason.contains("more than 1 folders"), "{reason}");
        assert!(!watcher.folders.lock().unwrap().is_watched(&path));

        let unavailable = Err(notify::Error::generic("no such service"));
        watcher.folders.lock().unwrap().watcher = unavailable;
        changed(&mut watcher, &two).await;
        let reason = watcher.unwatched.unwrap();
        assert!(reason.contains("no such service"), "{reason}");
    });
}
