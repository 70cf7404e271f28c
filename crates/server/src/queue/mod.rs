//! Runs as rows, and their events: what a server needs of a database to have its runs carried out
//! by any of its processes.
//!
//! - [`RunQueue`]: runs wait, are claimed by a process, and end. A thread has one running run.
//! - [`EventLog`]: the events of a run, by number, for clients that come again.
//! - [`Outbox`]: what is sent when a run has ended, until it arrives.
//! - [`Signals`]: every process learns of each change.

mod claim;
#[cfg(test)]
pub(crate) mod conformance;
mod error;
mod event_log;
mod job;
mod outbox;
mod run_queue;
mod signal;

pub(crate) use claim::{Cancel, Claim, ClaimedWith, Held};
pub(crate) use error::QueueError;
pub(crate) use event_log::{EventLog, LoggedEvent};
pub(crate) use job::{Job, Pushed, RequestKey, WhenDue};
pub(crate) use outbox::{Notice, Outbox, Outgoing};
pub(crate) use run_queue::{After, Cancelled, Reaped, RunEnd, RunQueue};
pub(crate) use signal::{Signal, Signals};
