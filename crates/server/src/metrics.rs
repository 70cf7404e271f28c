//! Figures for operators, in the form that Prometheus reads.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::rows::QueueDepth;
use crate::stream::EndStatus;

/// The upper bounds of the buckets of durations, in milliseconds.
const BOUNDS: [u64; 10] = [
    50, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000,
];

/// The ways in which runs end.
const ENDS: [&str; 4] = ["success", "interrupted", "error", "timeout"];

/// What this process has counted since it started.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    ended: [AtomicU64; ENDS.len()],
    durations: Histogram,
}

/// How often a duration was at most as long as each bound.
#[derive(Debug, Default)]
struct Histogram {
    counts: [AtomicU64; BOUNDS.len()],
    count: AtomicU64,
    milliseconds: AtomicU64,
}

impl Histogram {
    fn add(&self, duration: Duration) {
        let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        for (bound, count) in BOUNDS.iter().zip(&self.counts) {
            if milliseconds <= *bound {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.milliseconds.fetch_add(milliseconds, Ordering::Relaxed);
    }
}

/// What the process does at the moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauges {
    /// The runs of all processes, as their rows say.
    pub(crate) queue: QueueDepth,
    /// The runs that this process carries out.
    pub(crate) running: usize,
    /// The runs that it may carry out at a time.
    pub(crate) slots: usize,
    /// The streams that are open.
    pub(crate) streams: usize,
    /// Connections to the database: those in use, and the most there may be.
    pub(crate) pool: Option<(usize, usize)>,
    pub(crate) draining: bool,
}

impl Metrics {
    /// Counts a run that this process has carried out, by its end and its result.
    pub(crate) fn run_ended(&self, end: Option<EndStatus>, result: &Value, duration: Duration) {
        let error = result.get("__error__");
        let status = match (error, end) {
            (Some(error), _) if error["error"] == "TimeoutError" => "timeout",
            (Some(_), _) => "error",
            // A pause at a breakpoint is in no result, and a cancelled run has none.
            (None, Some(EndStatus::Interrupted | EndStatus::Cancelled)) => "interrupted",
            (None, _) => "success",
        };
        let ends = ENDS.iter().zip(&self.ended);
        for (_, count) in ends.filter(|(end, _)| **end == status) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.durations.add(duration);
    }

    /// Writes the figures for Prometheus.
    pub(crate) fn text(&self, now: &Gauges) -> String {
        let mut page = MetricsText(String::new());
        page.begin(
            "langgraph_queue_runs",
            "gauge",
            "Runs in the queue, of all processes.",
        );
        page.line(
            "langgraph_queue_runs",
            "{status=\"pending\"}",
            now.queue.pending,
        );
        page.line(
            "langgraph_queue_runs",
            "{status=\"running\"}",
            now.queue.running,
        );
        page.one(
            "langgraph_queue_oldest_pending_seconds",
            "gauge",
            "How long the oldest due run has waited.",
            now.queue.oldest_seconds,
        );
        page.one(
            "langgraph_runs_active",
            "gauge",
            "Runs of this process.",
            now.running,
        );
        page.one(
            "langgraph_runs_limit",
            "gauge",
            "Runs that this process may carry out at a time.",
            now.slots,
        );
        page.one(
            "langgraph_streams_open",
            "gauge",
            "Streams of this process.",
            now.streams,
        );
        page.one(
            "langgraph_draining",
            "gauge",
            "1 while this process stops.",
            u8::from(now.draining),
        );
        if let Some((used, most)) = now.pool {
            let help = "Connections to the database, of this process.";
            page.begin("langgraph_pool_connections", "gauge", help);
            page.line("langgraph_pool_connections", "{state=\"used\"}", used);
            page.line("langgraph_pool_connections", "{state=\"limit\"}", most);
        }
        let help = "Runs that this process has carried out to their end.";
        page.begin("langgraph_runs_ended_total", "counter", help);
        for (end, count) in ENDS.iter().zip(&self.ended) {
            let label = format!("{{status=\"{end}\"}}");
            page.line("langgraph_runs_ended_total", &label, load(count));
        }
        self.write_durations(&mut page);
        page.0
    }

    #[allow(clippy::cast_precision_loss)] // seconds
    fn write_durations(&self, page: &mut MetricsText) {
        let name = "langgraph_run_seconds";
        let durations = &self.durations;
        page.begin(
            name,
            "histogram",
            "How long runs take, from their claim to their end.",
        );
        for (bound, count) in BOUNDS.iter().zip(&durations.counts) {
            let label = format!("_bucket{{le=\"{}\"}}", *bound as f64 / 1_000.0);
            page.line(name, &label, load(count));
        }
        page.line(name, "_bucket{le=\"+Inf\"}", load(&durations.count));
        page.line(name, "_sum", load(&durations.milliseconds) as f64 / 1_000.0);
        page.line(name, "_count", load(&durations.count));
    }

    /// Returns the figures as JSON.
    pub(crate) fn json(&self, now: &Gauges) -> Value {
        let ended = ENDS.iter().zip(&self.ended);
        let ended: serde_json::Map<String, Value> = ended
            .map(|(end, count)| ((*end).to_owned(), load(count).into()))
            .collect();
        json!({
            "queue": {
                "num_pending": now.queue.pending, "num_running": now.queue.running,
                "pending_runs_wait_time_max_secs": now.queue.oldest_seconds,
            },
            "workers": {
                "max": now.slots, "active": now.running,
                "available": now.slots.saturating_sub(now.running),
            },
            "streams": now.streams,
            "pool": now.pool.map(|(used, most)| json!({"used": used, "limit": most})),
            "runs_ended": ended,
            "draining": now.draining,
        })
    }
}

fn load(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

/// A page in Prometheus' form.
struct MetricsText(String);

impl MetricsText {
    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a text does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, rest: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name}{rest} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.begin(name, kind, help);
        self.line(name, "", value);
    }
}
