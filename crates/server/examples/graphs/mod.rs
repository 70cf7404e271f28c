//! The graphs of the demo server that show more than an answer.

pub(crate) mod careful;
pub(crate) mod essay;
pub(crate) mod payment;
mod typing;
pub(crate) mod workflow;

pub(crate) use typing::{MODEL, Typing};
