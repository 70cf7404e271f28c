//! The graphs of the demo server that show more than an answer.

pub(crate) mod careful;
pub(crate) mod essay;
pub(crate) mod messages;
pub(crate) mod payment;
pub(crate) mod workflow;
