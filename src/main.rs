//! The `skills` binary: parse, run, report, exit.

use std::process::ExitCode;

fn main() -> ExitCode {
    skills_allocator::return_large_blocks();
    skills::cli::main()
}
