//! Mixed load and abuse for many minutes: memory, file handles and threads of `skills serve`.
//!
//! A good client works all the time; each kind of abuse has its turn, again and again. Samples are
//! taken every few seconds. Runs only with a number of minutes, and then ends with 1 if a target is
//! missed:
//!
//! `cargo bench --bench soak -- 30`

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "prints its measurements"
)]

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("soak: reads /proc, which only Linux has");
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    linux::main()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;
    use std::time::{Duration, Instant};

    use skills_test_support::abuse::{ABUSES, run_as_process};
    use skills_test_support::good_client::GoodClient;
    use skills_test_support::process::{Addresses, SkillsProcess};
    use skills_test_support::usage::Usage;
    use tokio::process::Command;
    use tokio::time::{interval, sleep};

    /// The most memory, in MiB.
    const MAX_MEMORY: u64 = 256;
    /// How long each kind of abuse lasts, and the pause after it.
    const ABUSE_TIME: Duration = Duration::from_secs(15);
    const PAUSE: Duration = Duration::from_secs(5);
    const SAMPLE_INTERVAL: Duration = Duration::from_secs(3);

    pub fn main() -> ExitCode {
        let arguments: Vec<_> = std::env::args()
            .skip(1)
            .filter(|a| a != "--bench")
            .collect();
        if run_as_process(&arguments) {
            return ExitCode::SUCCESS;
        }
        let Some(minutes) = arguments.first().and_then(|minutes| minutes.parse().ok()) else {
            println!("soak: runs with a number of minutes, as in `just soak 30`");
            return ExitCode::SUCCESS;
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let met = runtime.block_on(soak(Duration::from_mins(minutes)));
        ExitCode::from(u8::from(!met))
    }

    /// Returns whether every target was met.
    async fn soak(duration: Duration) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let (mut serve, addresses) = SkillsProcess::serve(dir.path(), &[]).await;
        let mut client = GoodClient::connect(&addresses).await;
        let pid = serve.pid();
        let abuse = tokio::spawn(abuse_in_turn(addresses));
        let samples = tokio::spawn(sample(pid, duration));
        let times = client.run(duration).await;
        abuse.abort();
        let samples = samples.await.unwrap();
        // Without abuse, what it used is free again.
        client.run(PAUSE).await;
        let alive = serve.try_wait().is_none();
        let (first, last) = (samples[0], Usage::of(pid).unwrap_or(samples[0]));
        let most = |value: fn(&Usage) -> u64| samples.iter().map(value).max().unwrap();
        let peak = last.peak_memory >> 20;
        println!("{:<12} {:>8} {:>8} {:>8}", "", "first", "most", "last");
        let print = |what: &str, value: fn(&Usage) -> u64| {
            let values = [value(&first), most(value), value(&last)];
            println!(
                "{what:<12} {:>8} {:>8} {:>8}",
                values[0], values[1], values[2]
            );
        };
        print("memory MiB", |usage| usage.memory >> 20);
        print("handles", |usage| usage.handles);
        print("threads", |usage| usage.threads);
        let (answers, failures) = (times.answers(), times.failures.len());
        println!(
            "peak memory {peak} MiB (target: below {MAX_MEMORY}); good client: {answers} answers, {failures} failures"
        );
        for failure in times.failures.iter().take(10) {
            println!("    {failure}");
        }
        alive && peak < MAX_MEMORY && failures == 0
    }

    async fn sample(pid: u32, duration: Duration) -> Vec<Usage> {
        let mut samples = Vec::new();
        let start = Instant::now();
        let mut ticks = interval(SAMPLE_INTERVAL);
        while start.elapsed() < duration {
            ticks.tick().await;
            let Some(usage) = Usage::of(pid) else {
                println!("{:>5} s: the process ended", start.elapsed().as_secs());
                break;
            };
            samples.push(usage);
        }
        samples
    }

    /// Each kind of abuse, one after the other, for ever.
    async fn abuse_in_turn(addresses: Addresses) {
        let program = std::env::current_exe().unwrap();
        let targets = [addresses.workers(), addresses.http].map(|a| a.to_string());
        for abuse in ABUSES.iter().cycle() {
            println!("abuse: {}", abuse.name);
            let abuser = Command::new(&program)
                .arg(abuse.name)
                .args(&targets)
                .kill_on_drop(true)
                .spawn();
            let mut abuser = abuser.unwrap();
            sleep(ABUSE_TIME).await;
            abuser.kill().await.unwrap();
            sleep(PAUSE).await;
        }
    }
}
