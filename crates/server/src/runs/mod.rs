//! Runs: their queue, their events, their end.

mod execute;
mod frame;
mod frames;
mod log;
mod queue;
mod request;
mod sse;

pub(crate) use execute::settle;
pub(crate) use frame::Frame;
pub(crate) use queue::{CancelAction, Live, Runs, cancel, submit};
pub(crate) use request::{RunRequest, checkpoint_id, checkpoint_in, modes, one_of, plan};
pub(crate) use sse::{Disconnect, joined, streamed};
