//! Errors of tools.

use std::error::Error;
use std::fmt;

use crate::{BudgetExceeded, UnknownOutcome};
use langgraph::error::MissingResource;
use langgraph::error::{AgentError, Interrupted, NodeError};

/// Why a tool failed, and what happens then.
///
/// **Any error that a tool returns with `?` goes to the model**, as an error message that answers
/// the call, and the run continues: the model can try again or do without. What the model cannot
/// fix fails the node instead: an interrupt ([`Interrupted`]), a missing resource
/// ([`MissingResource`]), an effect of unknown outcome ([`UnknownOutcome`]), a spent budget
/// ([`BudgetExceeded`]), and
/// [`ToolError::fatal`].
///
/// Like [`NodeError`], it converts from every error by `?`. Therefore it is not an
/// [`Error`](std::error::Error) itself.
///
/// # Examples
///
/// ```
/// use langgraph_agent::ToolError;
///
/// fn read(path: &str) -> Result<String, ToolError> {
///     if path.contains("..") {
///         return Err(ToolError::model("paths must stay in the folder"));
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
///
/// assert!(matches!(read("../x"), Err(ToolError::Model(text)) if text.starts_with("paths")));
/// assert!(matches!(read("no such file"), Err(ToolError::Model(_))));
/// ```
#[non_exhaustive]
pub enum ToolError {
    /// The arguments do not fit; the model gets the reason.
    Arguments(String),
    /// The tool failed; the model gets this text.
    Model(String),
    /// The node fails.
    Fatal(NodeError),
}

impl ToolError {
    /// Reports to the model that the arguments do not fit.
    pub fn arguments(message: impl Into<String>) -> Self {
        Self::Arguments(message.into())
    }

    /// Reports to the model what went wrong.
    pub fn model(message: impl Into<String>) -> Self {
        Self::Model(message.into())
    }

    /// Fails the node.
    pub fn fatal(error: impl Into<NodeError>) -> Self {
        Self::Fatal(error.into())
    }

    /// Converts to the error of a node that calls a tool's function itself.
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_agent::prelude::*;
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// async fn double(n: u8) -> Result<u8, ToolError> {
    ///     n.checked_mul(2).ok_or_else(|| ToolError::model("too large"))
    /// }
    ///
    /// #[node]
    /// async fn twice(n: &u8) -> Result<u8, NodeError> {
    ///     double(*n).await.map_err(ToolError::into_node_error)
    /// }
    /// # let _ = twice;
    /// ```
    pub fn into_node_error(self) -> NodeError {
        match self {
            Self::Arguments(text) | Self::Model(text) => NodeError::msg(text),
            Self::Fatal(error) => error,
        }
    }
}

// Every `Error`, and `NodeError` itself, converts into a `NodeError`. Two impls would be clearer,
// but the compiler assumes that `NodeError` may implement `Error` one day.
impl<E: Into<NodeError>> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error = error.into();
        let fails = error.is::<Interrupted>()
            || error.is::<MissingResource>()
            || error.is::<AgentError>()
            || error.is::<UnknownOutcome>()
            || error.is::<BudgetExceeded>();
        if fails {
            return Self::Fatal(error);
        }
        Self::Model(in_full(error.source()))
    }
}

/// `?` in [`Agent::run`](langgraph::Agent::run).
impl From<ToolError> for AgentError {
    fn from(error: ToolError) -> Self {
        error.into_node_error().into()
    }
}

// `?` also works in `main` and in tests that return a `Box<dyn Error>`.
impl From<ToolError> for Box<dyn Error> {
    fn from(error: ToolError) -> Self {
        error.into_node_error().into()
    }
}

/// Returns the error and its causes, in one line.
fn in_full(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        // Many errors repeat their cause.
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arguments(text) | Self::Model(text) => f.write_str(text),
            Self::Fatal(error) => fmt::Display::fmt(error, f),
        }
    }
}

/// Prints the message, so that tests and `main` show it; `{:#?}` prints the variant.
impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return fmt::Display::fmt(self, f);
        }
        match self {
            Self::Arguments(text) => f.debug_tuple("Arguments").field(text).finish(),
            Self::Model(text) => f.debug_tuple("Model").field(text).finish(),
            Self::Fatal(error) => f.debug_tuple("Fatal").field(error).finish(),
        }
    }
}
