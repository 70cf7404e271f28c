//! Threads as virtual objects.

mod object;
mod served;

pub(crate) use object::{HANDLERS, ThreadObject};
pub(crate) use served::{INVOCATION, Served};
