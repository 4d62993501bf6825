//! The documented interface, as scenarios.
//!
//! `cargo test --test bdd` runs them all: first with an engine in memory, then those
//! tagged `@engine` again with a worker on an engine behind a socket: an embedded one,
//! or the one at `III_ENGINE_WS_URL`. `-- --tags @pure` runs only the first half,
//! `-- --tags @engine` only the second, any other tag both; `-- -v` prints every step. An
//! undefined step, a tag without scenarios and an empty folder fail.

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

/// The scenarios that run over a socket.
const ENGINE: &str = "@engine and not @in_memory";

/// The scenarios that run at once; each has an engine and two workers.
const MAX_CONCURRENT: usize = 8;

#[tokio::main]
#[expect(clippy::print_stderr, reason = "the report of a test run")]
async fn main() -> ExitCode {
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bdd/features");
    let problems = lint_features(&features);
    if !problems.is_empty() {
        eprintln!("{}", problems.join("\n"));
        return ExitCode::FAILURE;
    }
    let asked = Opts::parsed();
    let tags = asked.tags_filter.as_ref();
    // Scenarios selected by name run in memory only.
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
            // Also with cucumber's own tag `@allow.skipped`.
            .fail_on_skipped_with(|_, _, _| true)
            .max_concurrent_scenarios(MAX_CONCURRENT)
            .with_cli(opts)
            .run(features.clone())
            .await;
        passed += result.passed_steps();
        failed |= result.execution_has_failed();
    }
    if passed == 0 {
        eprintln!("no step passed: does a scenario have these tags?");
        return ExitCode::FAILURE;
    }
    ExitCode::from(u8::from(failed))
}

/// Whether a tag expression includes a tag.
fn mentions(tags: &TagOperation, tag: &str) -> bool {
    match tags {
        TagOperation::Tag(name) => name.trim_start_matches('@') == tag,
        TagOperation::And(a, b) | TagOperation::Or(a, b) => mentions(a, tag) || mentions(b, tag),
        TagOperation::Not(_) => false,
    }
}
