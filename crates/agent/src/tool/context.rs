//! What a tool is told of the call and of the run around it.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use langgraph::message::ToolCall;
use langgraph::node::{Context, Interrupted};
use langgraph::state::State;

/// What a tool is told of the call and of the run around it.
///
/// It is a [`Context`]: resources, events, cancellation and questions are those of the node that
/// calls the tool.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, ToolContext, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Delete {
///     /// Which file.
///     path: String,
/// }
///
/// async fn delete(arguments: Delete, cx: &ToolContext<'_>) -> Result<String, ToolError> {
///     let Delete { path } = arguments;
///     if cx.interrupt("sure", &format!("Delete {path}?"))? {
///         cx.emit("deleting").await?;
///         return Ok(format!("{path} is gone"));
///     }
///     Err(ToolError::model("the user does not want that"))
/// }
///
/// let delete = FnTool::new("delete", "Deletes a file.", delete);
/// # let _ = delete;
/// ```
pub struct ToolContext<'a> {
    cx: &'a Context,
    call: &'a ToolCall,
    state: Option<&'a (dyn Any + Send + Sync)>,
    /// What the keys of questions begin with, where several calls share one task.
    scope: Option<&'a str>,
    asked: AtomicUsize,
}

impl<'a> ToolContext<'a> {
    /// The context of a call inside a node.
    pub fn new(cx: &'a Context, call: &'a ToolCall) -> Self {
        Self {
            cx,
            call,
            state: None,
            scope: None,
            asked: AtomicUsize::new(0),
        }
    }

    /// Lets the tool see the state of the graph.
    #[must_use]
    pub fn with_state<S: State>(mut self, state: &'a S) -> Self {
        self.state = Some(state);
        self
    }

    /// Keeps the questions of this call apart from those of others in the same task.
    #[must_use]
    pub(crate) fn scoped(mut self) -> Self {
        self.scope = Some(&self.call.id);
        self
    }

    /// The call.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// The id of the call, which its answer carries.
    pub fn call_id(&self) -> &'a str {
        &self.call.id
    }

    /// The state of the graph in which the tool is called.
    ///
    /// # Errors
    ///
    /// [`MissingState`], when the graph's state is not an `S`, or the tool is not called by a graph.
    pub fn state<S: State>(&self) -> Result<&'a S, MissingState> {
        let state = self.state.and_then(|state| state.downcast_ref());
        state.ok_or(MissingState(std::any::type_name::<S>()))
    }

    /// As [`Context::interrupt`]. Where several calls share one task (those of a
    /// [`ToolNode`](crate::ToolNode) that is a node), the key is `call id/key`.
    ///
    /// # Errors
    ///
    /// As [`Context::interrupt`].
    pub fn interrupt<A: DeserializeOwned>(
        &self,
        key: &str,
        question: &(impl Serialize + ?Sized),
    ) -> Result<A, Interrupted> {
        match self.scope {
            None => self.cx.interrupt(key, question),
            Some(scope) => self.cx.interrupt(&format!("{scope}/{key}"), question),
        }
    }

    /// As [`Context::interrupt_next`], with the keys of [`interrupt`](Self::interrupt).
    ///
    /// # Errors
    ///
    /// As [`Context::interrupt`].
    pub fn interrupt_next<A: DeserializeOwned>(
        &self,
        question: &(impl Serialize + ?Sized),
    ) -> Result<A, Interrupted> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        self.interrupt(&asked.to_string(), question)
    }
}

impl Deref for ToolContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.cx
    }
}

impl fmt::Debug for ToolContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext")
            .field("call", self.call)
            .field("context", self.cx)
            .finish_non_exhaustive()
    }
}

/// A tool asked for the state of the graph, and it is of another type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool wants the state `{0}`, and the graph that called it has no such state")]
pub struct MissingState(&'static str);
