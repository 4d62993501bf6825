//! The documented interface, as scenarios anybody can read.
//!
//! `cargo test --test bdd` runs them all: first on an engine in memory, then those
//! tagged `@engine` once more through a worker on an engine behind a socket: our own,
//! or the one at `III_ENGINE_WS_URL`. `-- --tags @pure` runs the first half alone,
//! `-- --tags @engine` the second, any other tag both; `-- -v` shows every step. A run
//! that proves nothing fails: an undefined step, a tag that nobody carries, an empty
//! folder.

mod steps;
mod world;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use cucumber::gherkin::tagexpr::TagOperation;
use cucumber::writer::Stats as _;
use cucumber::{World as _, WriterExt as _, cli, parser, runner};

use world::{FailureWriter, OVER_A_SOCKET, World, lint_features};

type Opts = cli::Opts<parser::basic::Cli, runner::basic::Cli, cucumber::writer::basic::Cli>;

/// What runs over a socket: the source of documents is in memory only.
const ENGINE: &str = "@engine and not @in_memory";

/// How many scenarios at once: each has an engine and two workers of its own.
const AT_ONCE: usize = 8;

#[tokio::main]
#[expect(clippy::print_stderr, reason = "this is how a test run speaks")]
async fn main() -> ExitCode {
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bdd/features");
    let faults = lint_features(&features);
    if !faults.is_empty() {
        eprintln!("{}", faults.join("\n"));
        return ExitCode::FAILURE;
    }
    let asked = Opts::parsed();
    let tags = asked.tags_filter.as_ref();
    // Scenarios found by name run in memory; their tags are not looked at.
    let in_memory = !tags.is_some_and(|tags| mentions(tags, "engine"));
    let over_a_socket = asked.re_filter.is_none()
        && !tags.is_some_and(|tags| mentions(tags, "pure") || mentions(tags, "markdown"));
    let mut passed = 0;
    let mut failed = false;
    for socket in [false, true] {
        if (socket && !over_a_socket) || (!socket && !in_memory) {
            continue;
        }
        OVER_A_SOCKET.store(socket, Ordering::Relaxed);
        let mut opts = Opts::parsed();
        if socket {
            eprintln!("\nover a socket:");
            let engine = ENGINE.parse().expect("a tag expression");
            opts.tags_filter = Some(match opts.tags_filter {
                Some(tags) => TagOperation::And(Box::new(tags), Box::new(engine)),
                None => engine,
            });
        }
        let result = World::cucumber()
            .with_writer(FailureWriter::stdout().normalized().summarized())
            // No tag excuses an undefined step, not even cucumber's own `@allow.skipped`.
            .fail_on_skipped_with(|_, _, _| true)
            .max_concurrent_scenarios(AT_ONCE)
            .with_cli(opts)
            .run(features.clone())
            .await;
        passed += result.passed_steps();
        failed |= result.execution_has_failed();
    }
    if passed == 0 {
        eprintln!("no step passed: does any scenario carry these tags?");
        return ExitCode::FAILURE;
    }
    ExitCode::from(u8::from(failed))
}

/// Whether a tag expression names a tag other than to exclude it.
fn mentions(tags: &TagOperation, tag: &str) -> bool {
    match tags {
        TagOperation::Tag(name) => name.trim_start_matches('@') == tag,
        TagOperation::And(a, b) | TagOperation::Or(a, b) => mentions(a, tag) || mentions(b, tag),
        TagOperation::Not(_) => false,
    }
}
