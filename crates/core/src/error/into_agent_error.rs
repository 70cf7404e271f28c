//! What `?` converts into an [`AgentError`].

use std::error::Error;

use super::{AgentError, NodeError};

type Boxed = Box<dyn Error + Send + Sync>;

/// What `?` converts into an [`AgentError`]: every [`Error`] that may cross threads, also in a box.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not convert into an `AgentError`",
    // Under a `?`, rustc shows the label and leaves out the rest.
    label = "not an `Error + Send + Sync`, or it holds an `AgentError` without a box: write `.map_err(NodeError::from)?`, or `.map_err(|error| NodeError::msg(error.to_string()))?`"
)]
pub trait IntoAgentError {
    fn into_agent_error(self) -> AgentError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Boxed> + Unpin + 'static> IntoAgentError for E {
    fn into_agent_error(self) -> AgentError {
        from_box(self.into())
    }
}

/// Converts any error, for `?` in an [`Agent`]: those of files, parsers, models and tools, and boxed
/// ones. If the agent is a node, the error names the agent.
///
/// ```
/// use langgraph::prelude::*;
///
/// struct Parser;
///
/// impl Agent for Parser {
///     type State = String;
///
///     fn name(&self) -> &str {
///         "parser"
///     }
///
///     async fn run(&self, path: String) -> Result<String, AgentError> {
///         let text = std::fs::read_to_string(path)?;
///         let number: i64 = text.trim().parse()?;
///         Ok(number.to_string())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! {
///     type State = String;
///     let parse = Parser;
///     START => parse => END;
/// };
/// let error = graph.compile()?.invoke("no such file".to_owned()).await.unwrap_err();
/// assert!(error.to_string().starts_with("node `parse` failed: agent `parser` failed: "));
/// # Ok(())
/// # }
/// ```
///
/// [`Agent`]: https://docs.rs/langgraph/latest/langgraph/trait.Agent.html
impl<E: IntoAgentError> From<E> for AgentError {
    fn from(error: E) -> Self {
        error.into_agent_error()
    }
}

impl From<NodeError> for AgentError {
    fn from(error: NodeError) -> Self {
        error.into_agent().unwrap_or_else(own)
    }
}

// Without `Unpin`, `AgentError` is none of the errors above. If it were one, the conversion would be
// a second `From<AgentError>` for `AgentError`, which rustc refuses.
impl Unpin for AgentError where for<'a> &'a Never: Holds {}

#[doc(hidden)]
#[derive(Debug)]
pub enum Never {}

#[doc(hidden)]
pub trait Holds {}

/// Keeps the errors of the runtime what they are; every other error is the agent's own.
fn from_box(error: Boxed) -> AgentError {
    let found = unbox(error, |error: AgentError| error)
        .or_else(|error| unbox(error, |error: Box<AgentError>| *error))
        .or_else(|error| unbox(error, AgentError::InvalidUpdate))
        .or_else(|error| unbox(error, AgentError::Checkpoint))
        .or_else(|error| unbox(error, AgentError::Subgraph))
        .or_else(|error| unbox(error, AgentError::NoRuntime));
    found.unwrap_or_else(|error| own(NodeError::boxed(error)))
}

fn own(error: NodeError) -> AgentError {
    AgentError::Agent {
        agent: None,
        source: error.into(),
    }
}

fn unbox<E: Error + 'static>(
    error: Boxed,
    variant: impl FnOnce(E) -> AgentError,
) -> Result<AgentError, Boxed> {
    error.downcast().map(|error| variant(*error))
}
