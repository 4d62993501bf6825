//! The `skills` binary: parse, run, report, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    skills::cli::main()
}
