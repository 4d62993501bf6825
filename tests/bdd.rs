//! The documented interface, as scenarios anybody can read.
//!
//! `cargo test --test bdd` runs them all; `-- --tags @markdown` some of them, `-- -v`
//! with every step. A run that proves nothing fails: an undefined step, a tag that
//! nobody carries, an empty folder.

mod common;
mod steps;

use std::path::Path;
use std::process::ExitCode;

use cucumber::writer::Stats as _;
use cucumber::{World as _, WriterExt as _};

use common::{Quiet, World, proofread};

#[tokio::main]
#[expect(clippy::print_stderr, reason = "this is how a test run speaks")]
async fn main() -> ExitCode {
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/features");
    let faults = proofread(&features);
    if !faults.is_empty() {
        eprintln!("{}", faults.join("\n"));
        return ExitCode::FAILURE;
    }
    let result = World::cucumber()
        .with_writer(Quiet::stdout().normalized().summarized())
        // No tag excuses an undefined step, not even cucumber's own `@allow.skipped`.
        .fail_on_skipped_with(|_, _, _| true)
        .run(features)
        .await;
    if result.passed_steps() == 0 {
        eprintln!("no step passed: does any scenario carry these tags?");
        return ExitCode::FAILURE;
    }
    ExitCode::from(u8::from(result.execution_has_failed()))
}
