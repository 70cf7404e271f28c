//! The async runtime that some parts of a run need.

use tokio::runtime::Handle;

/// Something was to run side by side, in the background or by the clock, and there is no tokio
/// runtime around that could do it.
///
/// A graph of nodes one after the other runs on any executor. What needs more says so with this
/// error: as [`AgentError::NoRuntime`](crate::AgentError::NoRuntime), or as the error of the node
/// whose option it is.
///
/// # Examples
///
/// Without a runtime, [`invoke_blocking`](crate::CompiledStateGraph::invoke_blocking) brings one
/// along; elsewhere `#[tokio::main]` does.
///
/// ```
/// use langgraph::prelude::*;
///
/// let add = |n: &i64| n + 1;
/// let again = add;
/// let graph = graph! { type State = i64; START => add => again => END }.compile().unwrap();
/// assert_eq!(graph.invoke_blocking(1).unwrap(), 3);
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "{what} needs a tokio runtime, and there is none; run the graph under `#[tokio::main]`, or with `invoke_blocking`"
)]
pub struct NoRuntime {
    what: String,
}

impl NoRuntime {
    /// Fails when no runtime is around; `what` is what needs one.
    ///
    /// # Examples
    ///
    /// A node that sleeps says what it wants a clock for, instead of the panic of
    /// `tokio::time::sleep`:
    ///
    /// ```
    /// use langgraph::NoRuntime;
    ///
    /// let refused = NoRuntime::check(|| "the pause".to_owned()).unwrap_err();
    /// assert!(refused.to_string().starts_with("the pause needs a tokio runtime"));
    /// ```
    ///
    /// # Errors
    ///
    /// The error itself, with `what` in its text.
    pub fn check(what: impl FnOnce() -> String) -> Result<(), Self> {
        runtime(what).map(|_| ())
    }
}

/// The runtime that is around, for `what`.
pub(crate) fn runtime(what: impl FnOnce() -> String) -> Result<Handle, NoRuntime> {
    Handle::try_current().map_err(|_| NoRuntime { what: what() })
}
