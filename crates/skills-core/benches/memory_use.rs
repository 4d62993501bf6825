//! The memory that 100,000 skills of 2 KiB need.
//! Target: at most 1.5 times the bytes of the bodies plus 300 bytes per entry.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it prints figures of the operating system"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::value::RawValue;
use skills_core::{Engine, Failure, Json, Pending, Registry, RegistrySettings, ResourceUri};

const SKILLS: usize = 100_000;
const BODY: usize = 2048;

/// An engine that returns its rows once and keeps nothing, so that only the registry uses
/// memory.
struct Once(Mutex<Option<Json>>);

impl Engine for Once {
    fn call<'a>(
        &'a self,
        _: &'a str,
        payload: Json,
        _: Duration,
    ) -> Pending<'a, Result<Option<Json>, Failure>> {
        let empty = || RawValue::from_string("[]".into()).expect("JSON");
        let skills = payload.get().contains("skills");
        let rows = skills
            .then(|| self.0.lock().ok().and_then(|mut rows| rows.take()))
            .flatten();
        Box::pin(std::future::ready(Ok(Some(rows.unwrap_or_else(empty)))))
    }

    fn send(&self, _: &str, _: Json) {}
}

fn rows() -> Json {
    let filler = "x".repeat(BODY - 60);
    let row = |n: usize| {
        format!(
            r##"{{"id":"g{}/s{n}","skill":"# Skill {n}\n\nWhen to use it.\n\n{filler}","registered_at":"2026-01-01T00:00:00.000Z"}}"##,
            n % 100
        )
    };
    let all: Vec<String> = (0..SKILLS).map(row).collect();
    RawValue::from_string(format!("[{}]", all.join(","))).expect("JSON")
}

/// Resident memory in bytes, if the system reports it.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<usize>()
        .ok()
        .map(|kib| kib * 1024)
}

fn main() {
    let before = resident();
    let engine = Arc::new(Once(Mutex::new(Some(rows()))));
    let registry = Registry::new(engine, Vec::new(), RegistrySettings::default(), String::new);
    registry.connected(true);
    let done = memory_engine::now(registry.load());
    done.expect("rows are well formed");
    report("loaded", before);
    let index = memory_engine::now(registry.read(&ResourceUri::Index)).expect("an index");
    println!(
        "index of {} bytes",
        index.text().map_or(0, |text| text.len())
    );
    report("with every head and the index", before);
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(when: &str, before: Option<usize>) {
    let (Some(before), Some(after)) = (before, resident()) else {
        println!("{when}: not reported by this system");
        return;
    };
    let used = after.saturating_sub(before);
    let bodies = SKILLS * BODY;
    let allowed = bodies * 3 / 2 + SKILLS * 300;
    println!(
        "{when}: {:.1} MiB for {:.1} MiB of bodies, {:.2} of what is allowed",
        used as f64 / 1_048_576.0,
        bodies as f64 / 1_048_576.0,
        used as f64 / allowed as f64,
    );
}
