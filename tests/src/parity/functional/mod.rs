//! Cases of the functional form: an entrypoint and its tasks, which are programs of the case.

mod interpreter;
mod program;
mod session;

pub(super) use program::FunctionSpec;
pub(super) use session::answer;
