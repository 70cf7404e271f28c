//! Runs: their queue, their events, their end.

mod accept;
mod execute;
mod feed;
mod frame;
mod frames;
mod live;
mod remove;
mod request;
mod sse;
mod submit;
mod told;
mod wake;
mod worker;

pub(crate) use accept::{Accepted, accept};
pub(crate) use execute::{Stands, settle};
pub(crate) use feed::Feed;
pub(crate) use frame::Frame;
pub(crate) use remove::{prune_thread, remove_thread};
pub(crate) use request::{RunRequest, checkpoint_id, checkpoint_in, modes, one_of, plan};
pub(crate) use sse::{Disconnect, broken_off, streamed};
pub(crate) use submit::{cancel, join, submit};
pub(crate) use worker::{Runs, drain, start};
