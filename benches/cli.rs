//! The time of commands: the real binary, started for each measurement.
//!
//! Prints the median of each command and its difference to `true`. The commands alternate, so that
//! load on the machine affects all of them.

#![expect(clippy::print_stdout, reason = "prints its measurements")]
#![expect(clippy::unwrap_used, reason = "a bench panics when it cannot run")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use skills_test_support::process::skills_command;

const SKILLS: usize = 10_000;
const BYTES: usize = 2048;
const ROUNDS: usize = 31;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let (docs, data) = (dir.path().join("docs"), dir.path().join("data"));
    fill(&docs);
    let imported = time_skills(&data, &["import", docs.to_str().unwrap()]);
    println!("import of {SKILLS} skills of {BYTES} bytes: {imported:.1?}");
    println!(
        "import again, all equal: {:.1?}",
        time_skills(&data, &["import", docs.to_str().unwrap()])
    );
    let out = dir.path().join("out");
    println!(
        "export: {:.1?}",
        time_skills(&data, &["export", out.to_str().unwrap()])
    );

    let empty = dir.path().join("empty");
    time_skills(&empty, &["list"]);
    let commands: [(&str, &dyn Fn() -> Duration); 7] = [
        ("true", &|| time(&mut Command::new("true"))),
        ("skills --help", &|| time(skills_command().arg("--help"))),
        ("skills list (empty)", &|| time_skills(&empty, &["list"])),
        ("skills list", &|| time_skills(&data, &["list"])),
        ("skills list --flat", &|| {
            time_skills(&data, &["list", "--flat"])
        }),
        ("skills list --json", &|| {
            time_skills(&data, &["list", "--json"])
        }),
        ("skills read", &|| {
            time_skills(&data, &["read", "group-7/skill-77"])
        }),
    ];
    let mut times = vec![Vec::new(); commands.len()];
    for _ in 0..ROUNDS {
        for (times, (_, run)) in times.iter_mut().zip(&commands) {
            times.push(run());
        }
    }
    let medians: Vec<_> = times.into_iter().map(median).collect();
    println!(
        "\n{:<22} {:>10} {:>12}",
        "command", "median", "above `true`"
    );
    for ((name, _), time) in commands.iter().zip(&medians) {
        println!(
            "{name:<22} {time:>10.2?} {:>12.2?}",
            time.saturating_sub(medians[0])
        );
    }
}

fn fill(docs: &Path) {
    for n in 0..SKILLS {
        let group = docs.join(format!("group-{}", n % 10));
        std::fs::create_dir_all(&group).unwrap();
        let mut body = format!("# Skill {n}\n\nWhat number {n} is for.\n\n");
        while body.len() < BYTES {
            body += "A line of \"markdown\" with a [link](iii://skills).\n";
        }
        body.truncate(BYTES);
        std::fs::write(group.join(format!("skill-{n}.md")), body).unwrap();
    }
}

fn time_skills(data: &Path, args: &[&str]) -> Duration {
    time(skills_command().args(args).arg("--data-dir").arg(data))
}

fn time(command: &mut Command) -> Duration {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().unwrap();
    let took = start.elapsed();
    assert!(status.success(), "{command:?}");
    took
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
