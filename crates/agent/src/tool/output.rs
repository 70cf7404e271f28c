//! The answer of a tool.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::ToolError;
use langgraph::message::{Content, ContentPart};
use langgraph::node::Command;
use langgraph::state::State;

/// The answer of a tool: what the model reads, and what the graph does.
#[derive(Clone)]
pub struct ToolOutput {
    pub(crate) content: Content,
    /// A `Command<S>` for the graph that called the tool.
    pub(crate) command: Option<CommandFor>,
}

/// A command, and the state type of its graph.
#[derive(Clone)]
pub(crate) struct CommandFor {
    command: Arc<dyn Any + Send + Sync>,
    state: &'static str,
}

impl CommandFor {
    /// Takes the command if it is for a graph over `S`; otherwise returns the name of its state.
    pub(crate) fn take<S: State>(self) -> Result<Command<S>, &'static str> {
        match self.command.downcast::<Command<S>>() {
            Ok(command) => Ok(Arc::unwrap_or_clone(command)),
            Err(_) => Err(self.state),
        }
    }
}

impl fmt::Debug for CommandFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a command for `{}`", self.state)
    }
}

impl ToolOutput {
    /// Answers with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::content(Content::Text(text.into()))
    }

    /// Answers with text, pictures and files.
    pub fn content(content: impl Into<Content>) -> Self {
        Self {
            content: content.into(),
            command: None,
        }
    }

    /// Returns what the model reads.
    pub fn answer(&self) -> &Content {
        &self.content
    }

    /// Adds a command, which updates the state or jumps to another node. The tool node returns it
    /// beside the message for the model. The command must be for the graph that calls the tool.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_agent::{FnTool, ToolOutput};
    ///
    /// let hand_over = FnTool::new("hand_over", "Passes the user on to a person.", || async {
    ///     ToolOutput::text("passed on").and(Command::<i64>::goto("person"))
    /// });
    /// # let _ = hand_over;
    /// ```
    #[must_use]
    pub fn and<S: State>(mut self, command: Command<S>) -> Self {
        self.command = Some(CommandFor {
            command: Arc::new(command),
            state: std::any::type_name::<S>(),
        });
        self
    }
}

impl fmt::Debug for ToolOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolOutput")
            .field("content", &self.content)
            .field("command", &self.command)
            .finish()
    }
}

/// A value that the model reads as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a tool may return: text, numbers, [`Json`], [`Content`], a [`ToolOutput`]. Each may be in
/// an `Option` (`None` becomes `null`) or in a `Result` whose error converts into a [`ToolError`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot return this",
    label = "not an answer of a tool",
    note = "a tool returns text, a number, `Json(value)`, `Content` or `ToolOutput`, each also in a `Result` whose error is an `Error` or a `ToolError`"
)]
pub trait IntoToolOutput {
    /// Converts the value to the runtime's form.
    ///
    /// # Errors
    ///
    /// The tool's own error if the value is an `Err`; an error for the model if a value cannot be
    /// written as JSON.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

macro_rules! content {
    ($($ty:ty)*) => {$(
        impl IntoToolOutput for $ty {
            fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                Ok(ToolOutput::content(self))
            }
        }
    )*};
}

content!(String &str Cow<'_, str> Content Vec<ContentPart>);

macro_rules! displayed {
    ($($ty:ty)*) => {$(
        impl IntoToolOutput for $ty {
            fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
                Ok(ToolOutput::text(self.to_string()))
            }
        }
    )*};
}

displayed!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char Value);

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("null"))
    }
}

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(serde_json::to_string(&self.0)?))
    }
}

impl<T: IntoToolOutput> IntoToolOutput for Option<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        match self {
            Some(value) => value.into_tool_output(),
            None => ().into_tool_output(),
        }
    }
}

impl<T: IntoToolOutput, E: Into<ToolError>> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        self.map_err(Into::into)?.into_tool_output()
    }
}
