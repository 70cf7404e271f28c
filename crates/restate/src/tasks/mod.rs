//! Tasks as calls of services.

mod driver;
mod failures;
mod host;
mod metrics;
mod notes;
mod wire;

pub use driver::Tasks;
pub(crate) use host::{HANDLERS, TaskService};
pub use metrics::TaskMetrics;
pub(crate) use notes::{NOTES, Notes};

/// The status of a task that was stopped.
const STOPPED: u16 = 499;

/// The status that Restate gives an invocation which was cancelled before it ran.
const CANCELLED: u16 = 409;

/// Returns the name of the service that runs tasks of a graph. The graph's fingerprint is part of it, so
/// a task never meets another version.
pub(crate) fn service_name(graph: &str, fingerprint: u64) -> String {
    format!("{graph}.tasks.{fingerprint:016x}")
}

/// Returns the name of the object that keeps what tasks of a graph share.
pub(crate) fn notes_name(graph: &str) -> String {
    format!("{graph}.notes")
}
