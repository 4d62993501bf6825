//! The latency of a good client while another one abuses the server, for each kind of abuse: medians
//! before and during, their ratio, the calls without an answer, and the most memory that was used.
//!
//! Each kind gets a `skills serve` of its own; the abuser is a process of its own. Runs only with a
//! number of seconds for each kind, and then ends with 1 if a target is missed:
//!
//! `cargo bench --bench abuse -- 10 [KIND...]`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "prints its measurements"
)]

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("abuse: reads /proc, which only Linux has");
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt::Write;
    use std::process::{Child, Command, ExitCode};
    use std::time::Duration;

    use skills_test_support::abuse::{ABUSES, Abuse, run_as_process};
    use skills_test_support::good_client::{GoodClient, KINDS};
    use skills_test_support::process::{Addresses, SkillsProcess};
    use skills_test_support::usage::Usage;

    /// The most times that the median may grow.
    const MAX_RATIO: f64 = 20.0;
    const MIB: f64 = 1_048_576.0;

    pub fn main() -> ExitCode {
        let arguments: Vec<_> = std::env::args()
            .skip(1)
            .filter(|a| a != "--bench")
            .collect();
        if run_as_process(&arguments) {
            return ExitCode::SUCCESS;
        }
        let Some(seconds) = arguments.first().and_then(|seconds| seconds.parse().ok()) else {
            println!("abuse: runs with a number of seconds, as in `just abuse 10`");
            return ExitCode::SUCCESS;
        };
        let kinds = &arguments[1..];
        let chosen = |abuse: &&Abuse| kinds.is_empty() || kinds.iter().any(|k| k == abuse.name);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        println!(
            "{:<24} {:>33} {:>33} {:>33} {:>8} {:>8} {:>9}",
            "abuse", "read", "write", "http", "answers", "failures", "peak MiB"
        );
        let mut missed = false;
        for abuse in ABUSES.iter().filter(chosen) {
            missed |= !runtime.block_on(measure(abuse, Duration::from_secs(seconds)));
        }
        ExitCode::from(u8::from(missed))
    }

    /// Prints one line; returns whether every target was met.
    async fn measure(abuse: &'static Abuse, duration: Duration) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let (mut serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
        let mut client = GoodClient::connect(&addresses).await;
        let before = client.run(duration / 4).await;
        let abuser = Abuser::start(abuse, &addresses);
        // The abuse takes effect before it is measured.
        client.run(Duration::from_secs(1)).await;
        let during = client.run(duration).await;
        drop(abuser);
        let usage = Usage::of(serve.pid());
        let mut met = serve.try_wait().is_none() && during.failures.is_empty();
        let mut line = format!("{:<24}", abuse.name);
        for kind in 0..KINDS.len() {
            let ms =
                |times: Option<Duration>| times.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
            let (normal, slow) = (ms(before.median(kind)), ms(during.median(kind)));
            let ratio = slow / normal;
            met &= ratio <= MAX_RATIO;
            // Writing to a string cannot fail.
            let _ = write!(line, " {normal:>9.2} ms {slow:>9.2} ms {ratio:>6.1}x");
        }
        let peak = usage.map_or(f64::NAN, |usage| usage.peak_memory as f64 / MIB);
        let (answers, failures) = (during.answers(), during.failures.len());
        println!(
            "{line} {answers:>8} {failures:>8} {peak:>9.0}{}",
            if met { "" } else { "  MISSED" }
        );
        if let Some(failure) = during.failures.first() {
            println!("    {failure}");
        }
        met
    }

    /// The process that abuses, killed when dropped.
    struct Abuser(Child);

    impl Abuser {
        fn start(abuse: &Abuse, addresses: &Addresses) -> Self {
            let program = std::env::current_exe().unwrap();
            let addresses = [addresses.workers(), addresses.http].map(|a| a.to_string());
            let child = Command::new(program)
                .arg(abuse.name)
                .args(addresses)
                .spawn();
            Self(child.unwrap())
        }
    }

    impl Drop for Abuser {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }
}
