//! Version 2 of the streaming protocol: the events of a thread, whatever run they belong to.
//!
//! Its events are made from those that are stored of each run. So they are the same, with the same
//! ids, for a client that comes later, and from another process.

mod channels;
mod command;
mod events;
mod message;
mod thread;
mod values;

use events::Translator;

pub(crate) use channels::Channels;
pub(crate) use command::{Command, command};
pub(crate) use thread::{Form, streamed};
