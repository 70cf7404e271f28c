//! Threads as virtual objects.

mod answers;
mod object;
mod served;
mod values;

pub(crate) use object::{HANDLERS, ThreadObject};
pub(crate) use served::{INVOCATION, Served};
