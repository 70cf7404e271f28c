//! Runs as rows, and their events: what a server needs of a database to have its runs carried out
//! by any of its processes.
//!
//! - [`RunQueue`]: runs wait, are claimed by a process, and end. A thread has one running run.
//! - [`EventLog`]: the events of a run, by number, for clients that come again.
//! - [`Signals`]: what changes is told to every process.
//!
//! `langgraph-server` implements them over SQLite and PostgreSQL. Implementations of your own are
//! held to the suite in [`conformance`].

mod claim;
pub mod conformance;
mod error;
mod event_log;
mod job;
mod run_queue;
mod signal;

pub use claim::{Cancel, Claim, Held};
pub use error::QueueError;
pub use event_log::{EventLog, LoggedEvent};
pub use job::Job;
pub use run_queue::{Cancelled, Reaped, RunQueue};
pub use signal::{Signal, Signals};
