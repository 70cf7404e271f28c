//! Version 2 of the streaming protocol: the events of a thread, whatever run they belong to, and its
//! commands.

mod command;
mod thread;

pub(crate) use command::{Command, command};
pub(crate) use thread::{Form, frames, streamed};
