//! Errors of nodes.

use std::error::Error;
use std::fmt;

use super::{AgentError, Failure};

/// Any error that a node returns.
///
/// Like `anyhow::Error`, it converts from every error by `?`. Therefore it is not an
/// [`Error`](std::error::Error) itself; [`source`](NodeError::source) and
/// [`downcast_ref`](NodeError::downcast_ref) return the original. `?` converts it into a `Box<dyn Error>`, as `main`
/// and tests return it.
///
/// # Examples
///
/// ```
/// use langgraph::error::NodeError;
///
/// fn parse(text: &str) -> Result<i32, NodeError> {
///     if text.is_empty() {
///         return Err(NodeError::msg("nothing to parse"));
///     }
///     Ok(text.parse()?)
/// }
///
/// assert_eq!(parse("").unwrap_err().to_string(), "nothing to parse");
/// assert!(parse("x").unwrap_err().downcast_ref::<std::num::ParseIntError>().is_some());
/// ```
pub struct NodeError(Box<dyn Error + Send + Sync + 'static>);

impl NodeError {
    /// Creates an error from a message.
    pub fn msg(message: impl Into<String>) -> Self {
        Self(Box::new(Text(message.into())))
    }

    /// Wraps an error that is boxed already: a `Box<dyn Error + Send + Sync>`, or an error that
    /// converts into one, such as `anyhow::Error`. `?` does not convert these.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::error::Error;
    ///
    /// use langgraph::prelude::*;
    ///
    /// fn fetch() -> Result<i64, Box<dyn Error + Send + Sync>> {
    ///     Ok("12".parse::<i64>()?)
    /// }
    ///
    /// #[node]
    /// async fn add(n: &i64) -> Result<i64, NodeError> {
    ///     Ok(n + fetch().map_err(NodeError::boxed)?)
    /// }
    /// ```
    pub fn boxed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// Returns the original error.
    pub fn source(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.0.as_ref()
    }

    /// Returns the original error as a box.
    pub fn into_source(self) -> Box<dyn Error + Send + Sync + 'static> {
        self.0
    }

    /// Returns the first error of type `E` in the chain that starts with this one.
    ///
    /// It also searches the error of a graph inside the node: its
    /// [`AgentError`](super::AgentError), and the error of the node that failed there.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        let mut error: &(dyn Error + 'static) = self.0.as_ref();
        loop {
            if let Some(found) = error.downcast_ref::<E>() {
                return Some(found);
            }
            // Both display as their content, which is therefore missing from the chain.
            error = if let Some(inner) = error.downcast_ref::<Inner>() {
                &*inner.0
            } else if let Some(failure) = error.downcast_ref::<Failure>() {
                failure.node_error().source()
            } else {
                error.source()?
            };
        }
    }

    /// Returns the error of a graph inside the node.
    ///
    /// # Errors
    ///
    /// The error itself, if no graph inside the node made it.
    pub fn into_agent(self) -> Result<AgentError, Self> {
        match self.0.downcast::<Inner>() {
            Ok(inner) => Ok(*inner.0),
            Err(other) => Err(Self(other)),
        }
    }

    /// Wraps the error of a graph inside the node; it keeps the path to the failed node.
    #[must_use]
    pub fn from_agent(error: AgentError) -> Self {
        Self(Box::new(Inner(Box::new(error))))
    }

    /// Returns true if an error of type `E` is in the chain.
    pub fn is<E: Error + 'static>(&self) -> bool {
        self.downcast_ref::<E>().is_some()
    }
}

impl<E: IntoNodeError> From<E> for NodeError {
    fn from(error: E) -> Self {
        Self(error.into_box())
    }
}

/// What `?` converts into a [`NodeError`]: every [`Error`] that may cross threads.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not convert into a `NodeError`",
    // Under a `?`, rustc shows the label and leaves out the rest.
    label = "not an `Error + Send + Sync`: for text write `.map_err(NodeError::msg)`; for a box of an error, such as `anyhow::Error`, `.map_err(NodeError::boxed)`"
)]
pub trait IntoNodeError {
    fn into_box(self) -> Box<dyn Error + Send + Sync>;
}

#[diagnostic::do_not_recommend]
impl<E: Error + Send + Sync + 'static> IntoNodeError for E {
    fn into_box(self) -> Box<dyn Error + Send + Sync> {
        Box::new(self)
    }
}

// `?` also works in `main` and in tests that return a `Box<dyn Error>`.
impl From<NodeError> for Box<dyn Error> {
    fn from(error: NodeError) -> Self {
        error.0
    }
}

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        langgraph_topology::fmt_message("NodeError", self.source(), f)
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Inner(Box<AgentError>);

#[derive(thiserror::Error)]
#[error("{0}")]
struct Text(String);

crate::debug_is_message!(Text);
