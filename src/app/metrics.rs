//! What `/metrics` shows: calls, reads, commits and sizes, in Prometheus' text format.
//!
//! Every value of a label is a constant of this program, so the number of series is limited.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry;
use skills_core::{Kind, ReadFrom, RegistrySizes};
use skills_iii::state::{FILE_NAME, OnCommit};
use skills_mcp::{RequestObserver, ServedRequest};

/// The type of the response.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A metric, for the documentation.
#[derive(Debug)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it counts.
    pub help: &'static str,
}

/// Every metric. A test compares the table in `docs/operate.md` with it.
pub const METRICS: &[Metric] = &[
    Metric::counter(
        "skills_calls_total",
        &["surface", "operation"],
        "Calls of operations that were answered",
    ),
    Metric::counter(
        "skills_call_failures_total",
        &["surface", "operation", "kind"],
        "Calls that were answered with an error",
    ),
    Metric::histogram(
        "skills_call_duration_seconds",
        &["surface", "operation"],
        "How long calls took",
    ),
    Metric::counter(
        "skills_reads_total",
        &["origin"],
        "Documents that were read at their addresses",
    ),
    Metric::histogram(
        "skills_commit_duration_seconds",
        &[],
        "How long commits of the state took, until they were on disk",
    ),
    Metric::counter(
        "skills_writes_total",
        &[],
        "Writes that were committed; one commit may have several",
    ),
    Metric::gauge("skills_workers", &[], "Workers that are connected"),
    Metric::gauge(
        "skills_mcp_sessions",
        &[],
        "MCP sessions over HTTP, and recent clients without one",
    ),
    Metric::gauge(
        "skills_entries",
        &["entry", "origin"],
        "Skills and prompts that are served",
    ),
    Metric::gauge(
        "skills_not_served",
        &[],
        "Skills that are stored or in files and are not served",
    ),
    Metric::gauge(
        "skills_registered_bytes",
        &[],
        "Bodies of the registered skills",
    ),
    Metric::gauge(
        "skills_database_bytes",
        &[],
        "Files of the database, with its log",
    ),
    Metric::gauge("skills_build_info", &["version"], "Always 1"),
];

impl Metric {
    const fn new(
        kind: &'static str,
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            labels,
            help,
        }
    }

    const fn counter(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self::new("counter", name, labels, help)
    }

    const fn gauge(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self::new("gauge", name, labels, help)
    }

    const fn histogram(
        name: &'static str,
        labels: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self::new("histogram", name, labels, help)
    }
}

/// From a read in memory to the timeout of a function.
const BUCKETS: [f64; 13] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0,
];

type Labels<const N: usize> = [(&'static str, &'static str); N];

/// The metrics of one process.
pub struct Metrics {
    registry: registry::Registry,
    calls: Family<Labels<2>, Counter>,
    failures: Family<Labels<3>, Counter>,
    durations: Family<Labels<2>, Histogram, fn() -> Histogram>,
    reads: Family<Labels<1>, Counter>,
    commits: Histogram,
    writes: Counter,
    workers: Gauge,
    sessions: Gauge,
    entries: Family<Labels<2>, Gauge>,
    not_served: Gauge,
    registered_bytes: Gauge,
    database_bytes: Gauge,
}

/// Where a call came from.
#[derive(Clone, Copy, Debug)]
pub enum Surface {
    /// A worker or a command, through the engine.
    Engine,
    /// An MCP client.
    Mcp,
}

impl Surface {
    const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Mcp => "mcp",
        }
    }
}

/// The metrics of one operation.
#[derive(Clone)]
pub struct CallMetrics {
    labels: Labels<2>,
    calls: Counter,
    durations: Histogram,
    failures: Family<Labels<3>, Counter>,
}

/// What is measured when `/metrics` is read.
#[derive(Debug)]
pub struct Gauges {
    /// Workers that are connected.
    pub workers: usize,
    /// MCP clients over HTTP.
    pub sessions: usize,
    /// What is registered; none if state cannot be read.
    pub registered: Option<RegistrySizes>,
    /// Skills and prompts of files.
    pub files: [usize; 2],
    /// Skills that are not served.
    pub not_served: usize,
    /// Where the database is.
    pub data_dir: PathBuf,
}

impl Default for Metrics {
    fn default() -> Self {
        let metrics = Self {
            registry: registry::Registry::default(),
            calls: Family::default(),
            failures: Family::default(),
            durations: Family::new_with_constructor(new_histogram),
            reads: Family::default(),
            commits: new_histogram(),
            writes: Counter::default(),
            workers: Gauge::default(),
            sessions: Gauge::default(),
            entries: Family::default(),
            not_served: Gauge::default(),
            registered_bytes: Gauge::default(),
            database_bytes: Gauge::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Self {
        let build = Family::<Labels<1>, Gauge>::default();
        let version = env!("CARGO_PKG_VERSION");
        build.get_or_create(&[("version", version)]).set(1);
        let mut add = Register(&mut self.registry);
        add.metric("skills_calls_total", self.calls.clone());
        add.metric("skills_call_failures_total", self.failures.clone());
        add.metric("skills_call_duration_seconds", self.durations.clone());
        add.metric("skills_reads_total", self.reads.clone());
        add.metric("skills_commit_duration_seconds", self.commits.clone());
        add.metric("skills_writes_total", self.writes.clone());
        add.metric("skills_workers", self.workers.clone());
        add.metric("skills_mcp_sessions", self.sessions.clone());
        add.metric("skills_entries", self.entries.clone());
        add.metric("skills_not_served", self.not_served.clone());
        add.metric("skills_registered_bytes", self.registered_bytes.clone());
        add.metric("skills_database_bytes", self.database_bytes.clone());
        add.metric("skills_build_info", build);
        self
    }

    /// The metrics of one operation.
    pub fn operation(&self, surface: Surface, operation: &'static str) -> CallMetrics {
        let labels = [("surface", surface.name()), ("operation", operation)];
        CallMetrics {
            calls: self.calls.get_or_create_owned(&labels),
            durations: self.durations.get_or_create_owned(&labels),
            failures: self.failures.clone(),
            labels,
        }
    }

    /// Counts the requests of MCP clients.
    pub fn mcp_observer(self: &Arc<Self>) -> RequestObserver {
        let metrics = Arc::clone(self);
        Arc::new(move |request| {
            let ServedRequest {
                operation,
                duration,
                failure,
            } = request;
            let call = metrics.operation(Surface::Mcp, operation);
            call.answered(duration, failure);
        })
    }

    /// Counts the commits of a store.
    pub fn on_commit(&self) -> OnCommit {
        let (commits, writes) = (self.commits.clone(), self.writes.clone());
        OnCommit::new(move |duration, count| {
            commits.observe(duration.as_secs_f64());
            writes.inc_by(count as u64);
        })
    }

    /// The metrics as text, with these numbers of reads and gauges.
    pub fn to_text(&self, reads: impl Fn(ReadFrom) -> u64, gauges: &Gauges) -> String {
        for from in ReadFrom::ALL {
            let counter = self.reads.get_or_create(&[("origin", from.as_str())]);
            counter.inner().store(reads(from), Ordering::Relaxed);
        }
        set(&self.workers, gauges.workers);
        set(&self.sessions, gauges.sessions);
        let entry = |kind, origin, count| {
            let labels = [("entry", kind), ("origin", origin)];
            set(&self.entries.get_or_create(&labels), count);
        };
        let [skills, prompts] = gauges.files;
        entry("skill", "files", skills);
        entry("prompt", "files", prompts);
        // The last ones are shown while state cannot be read.
        if let Some(registered) = gauges.registered {
            entry("skill", "registered", registered.skills);
            entry("prompt", "registered", registered.prompts);
            set(&self.registered_bytes, registered.body_bytes);
        }
        set(&self.not_served, gauges.not_served);
        let bytes = database_bytes(&gauges.data_dir);
        self.database_bytes.set(bytes.cast_signed());
        let mut text = String::new();
        encode_registry(&mut text, &self.registry).expect("a string takes any text");
        to_prometheus_text(&text)
    }
}

impl CallMetrics {
    /// Counts a call that was answered.
    pub fn answered(&self, duration: Duration, failure: Option<Kind>) {
        self.calls.inc();
        self.durations.observe(duration.as_secs_f64());
        if let Some(kind) = failure {
            let [surface, operation] = self.labels;
            let labels = [surface, operation, ("kind", kind.name())];
            self.failures.get_or_create(&labels).inc();
        }
    }
}

/// Registers metrics with the texts of [`METRICS`].
struct Register<'a>(&'a mut registry::Registry);

impl Register<'_> {
    fn metric(&mut self, name: &str, metric: impl registry::Metric) {
        let mut known = METRICS.iter();
        let help = known.find(|known| known.name == name);
        let help = help.expect("every metric is in the table").help;
        // The crate adds the ending of counters.
        let name = name.strip_suffix("_total").unwrap_or(name);
        self.0.register(name, help, metric);
    }
}

fn new_histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

fn set(gauge: &Gauge, value: usize) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}

fn database_bytes(data_dir: &Path) -> u64 {
    let file = |ending: &str| data_dir.join(format!("{FILE_NAME}{ending}"));
    let bytes = |path: PathBuf| fs::metadata(path).map_or(0, |file| file.len());
    ["", "-wal"].into_iter().map(file).map(bytes).sum()
}

/// The crate writes the text of `OpenMetrics`, where the lines about a counter have its name without
/// the ending.
fn to_prometheus_text(open_metrics: &str) -> String {
    let counter = |line: &str| {
        let name = line.strip_prefix("# TYPE ")?.strip_suffix(" counter")?;
        Some(name.to_owned())
    };
    let counters: Vec<_> = open_metrics.lines().filter_map(counter).collect();
    let mut lines: Vec<_> = open_metrics.lines().map(str::to_owned).collect();
    for line in &mut lines {
        let mut words = line
            .strip_prefix("# ")
            .into_iter()
            .flat_map(|about| about.split(' '));
        let name = words
            .nth(1)
            .and_then(|name| counters.iter().find(|it| *it == name));
        if let Some(name) = name {
            *line = line.replacen(name, &format!("{name}_total"), 1);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_about_counters_have_their_whole_names() {
        let open_metrics = "# HELP a_b Of a_b.\n# TYPE a_b counter\na_b_total 1\n\
            # HELP g Of g.\n# TYPE g gauge\ng 2\n";
        let expected = "# HELP a_b_total Of a_b.\n# TYPE a_b_total counter\na_b_total 1\n\
            # HELP g Of g.\n# TYPE g gauge\ng 2\n";
        assert_eq!(to_prometheus_text(open_metrics), expected);
    }
}
