//! One call of a tool of an agent, on its way through the middleware.

use std::fmt;

use crate::tool::CommandFor;
use crate::{ToolError, async_trait};
use langgraph::error::NodeError;
use langgraph::message::{ToolCall, ToolResult};

/// The answer to a call of a tool, as the middleware of an agent sees it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolAnswer {
    /// What the model reads. A failed tool has a result, too.
    pub result: ToolResult,
    failure: Option<ToolFailure>,
    pub(crate) command: Option<CommandFor>,
    /// True if a person has decided about this call: the answer is for no other one.
    decided: bool,
}

/// Why a call of a tool failed, and the model reads about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFailure {
    /// The arguments do not fit.
    Arguments(String),
    /// The tool's own error.
    Tool(String),
}

impl ToolAnswer {
    /// Creates an answer that no tool has given.
    pub fn new(result: ToolResult) -> Self {
        Self {
            result,
            failure: None,
            command: None,
            decided: false,
        }
    }

    /// Returns why the tool failed, if it did.
    pub fn failure(&self) -> Option<&ToolFailure> {
        self.failure.as_ref()
    }

    pub(crate) fn failed(result: ToolResult, failure: ToolFailure) -> Self {
        Self {
            result,
            failure: Some(failure),
            command: None,
            decided: false,
        }
    }

    /// Notes whether a person has decided about the call, too.
    pub(crate) fn decided(mut self, decided: bool) -> Self {
        self.decided |= decided;
        self
    }

    /// Returns true if it may answer an equal call: it depends on no decision about this one, and does nothing else.
    pub(crate) fn is_for_equal_calls(&self) -> bool {
        !self.result.is_error() && self.command.is_none() && !self.decided
    }

    pub(crate) fn with_command(mut self, command: Option<CommandFor>) -> Self {
        self.command = command;
        self
    }
}

impl From<ToolResult> for ToolAnswer {
    fn from(result: ToolResult) -> Self {
        Self::new(result)
    }
}

impl ToolFailure {
    /// Splits the errors that the model reads about from those that fail the node.
    pub(crate) fn of(error: ToolError) -> Result<Self, NodeError> {
        match error {
            ToolError::Arguments(text) => Ok(Self::Arguments(text)),
            ToolError::Model(text) => Ok(Self::Tool(text)),
            ToolError::Fatal(error) => Err(error),
        }
    }
}

/// The rest of the way of a tool call: the middleware further inside, and the tool.
#[derive(Clone, Copy)]
pub struct NextTool<'a>(&'a dyn RunTool);

#[async_trait]
pub(crate) trait RunTool: Send + Sync {
    async fn run_tool(&self, call: ToolCall) -> Result<ToolAnswer, NodeError>;

    /// Returns the answer to a call in which middleware has panicked.
    fn panicked(&self, call: &ToolCall, panic: &str) -> Result<ToolAnswer, NodeError>;
}

impl<'a> NextTool<'a> {
    pub(crate) fn new(rest: &'a dyn RunTool) -> Self {
        Self(rest)
    }

    /// Calls the tool. It may be called again, or not at all.
    ///
    /// # Errors
    ///
    /// What fails the node: an interrupt, a [fatal](ToolError::Fatal) error of the tool. Other errors are
    /// [answers](ToolAnswer::failure).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call.
    pub async fn run(&self, call: ToolCall) -> Result<ToolAnswer, NodeError> {
        self.0.run_tool(call).await
    }
}

impl fmt::Debug for NextTool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NextTool")
    }
}
