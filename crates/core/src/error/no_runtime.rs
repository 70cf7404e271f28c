//! The async runtime that some parts of a run need.

use tokio::runtime::Handle;

/// Parallel tasks, background work or a timer need a tokio runtime, and there is none.
///
/// A graph of sequential nodes runs on any executor. What needs tokio fails with this error: as
/// [`AgentError::NoRuntime`](super::AgentError::NoRuntime), or as the error of the node whose
/// option needs it.
///
/// # Examples
///
/// `invoke_blocking` brings a runtime along;
/// elsewhere use `#[tokio::main]`.
///
/// ```
/// use langgraph::prelude::*;
///
/// let add = |n: &i64| n + 1;
/// let again = add;
/// let graph = graph! { type State = i64; START => add => again => END }.compile().unwrap();
/// assert_eq!(graph.invoke_blocking(1).unwrap(), 3);
/// ```
#[derive(Clone, thiserror::Error)]
#[error(
    "{what} needs a tokio runtime, and there is none; run the graph under `#[tokio::main]`, or with `invoke_blocking`"
)]
pub struct NoRuntime {
    what: String,
}

impl NoRuntime {
    /// Fails if there is no runtime; `what` says what needs one.
    ///
    /// # Examples
    ///
    /// A node that sleeps explains why it needs a timer, instead of the panic of
    /// `tokio::time::sleep`:
    ///
    /// ```
    /// use langgraph::error::NoRuntime;
    ///
    /// let refused = NoRuntime::check(|| "the pause".to_owned()).unwrap_err();
    /// assert!(refused.to_string().starts_with("the pause needs a tokio runtime"));
    /// ```
    ///
    /// # Errors
    ///
    /// The error itself, with `what` in its text.
    pub fn check(what: impl FnOnce() -> String) -> Result<(), Self> {
        Self::handle(what).map(|_| ())
    }

    /// Returns the current runtime, or fails as [`check`](Self::check) does.
    ///
    /// # Errors
    ///
    /// The error itself, with `what` in its text.
    pub fn handle(what: impl FnOnce() -> String) -> Result<Handle, Self> {
        Handle::try_current().map_err(|_| Self { what: what() })
    }
}

crate::debug_is_message!(NoRuntime);
