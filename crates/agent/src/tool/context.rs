//! The context of a tool call.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ToolError, Tools};
use crate::{Effect, FieldAccess, MiddlewareFields};
use langgraph::error::{Interrupted, NodeError};
use langgraph::message::{Message, ToolCall};
use langgraph::node::{Context, OnceKey};
use langgraph::state::State;

/// What a tool knows about its call and about the run.
///
/// It dereferences to [`Context`]: resources, events, cancellation and interrupts are those of the
/// node that calls the tool.
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
    messages: &'a [Message],
    fields: Arc<FieldAccess<'a>>,
    tools: Option<&'a Tools>,
    /// The prefix of interrupt keys, if several calls share one task.
    scope: Option<&'a str>,
    asked: AtomicUsize,
    /// True if it has asked a question that is open.
    waits: AtomicBool,
    /// How many answers it has got.
    answers: AtomicUsize,
}

impl<'a> ToolContext<'a> {
    /// Creates the context of a call inside a node.
    pub fn new(cx: &'a Context, call: &'a ToolCall) -> Self {
        Self {
            cx,
            call,
            state: None,
            messages: &[],
            fields: Arc::default(),
            tools: None,
            scope: None,
            asked: AtomicUsize::new(0),
            waits: AtomicBool::new(false),
            answers: AtomicUsize::new(0),
        }
    }

    /// Gives the tool access to the state of the graph.
    #[must_use]
    pub fn with_state<S: State>(mut self, state: &'a S) -> Self {
        self.state = Some(state);
        self
    }

    /// Gives the tool access to the chat.
    #[must_use]
    pub(crate) fn with_messages(mut self, messages: &'a [Message]) -> Self {
        self.messages = messages;
        self
    }

    /// Names the tools that the model can call.
    #[must_use]
    pub(crate) fn with_tools(mut self, tools: &'a Tools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Gives the tool access to the fields of the agent's middleware.
    #[must_use]
    pub(crate) fn with_fields(mut self, fields: Option<&'a MiddlewareFields>) -> Self {
        self.fields = Arc::new(FieldAccess::new(fields));
        self
    }

    /// Returns the context of the same call with other arguments. It shares the fields.
    pub(crate) fn with_call<'b>(&self, call: &'b ToolCall) -> ToolContext<'b>
    where
        'a: 'b,
    {
        ToolContext {
            cx: self.cx,
            call,
            state: self.state,
            messages: self.messages,
            fields: Arc::clone(&self.fields),
            tools: self.tools,
            scope: self.scope,
            asked: AtomicUsize::new(0),
            waits: AtomicBool::new(false),
            answers: AtomicUsize::new(0),
        }
    }

    /// Separates the interrupts of this call from those of others in the same task.
    #[must_use]
    pub(crate) fn scoped(mut self) -> Self {
        self.scope = Some(&self.call.id);
        self
    }

    /// Returns the call.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// Returns the id of the call, which its answer carries.
    pub fn call_id(&self) -> &'a str {
        &self.call.id
    }

    /// Returns the chat so far, as the node that calls the tool sees it.
    pub fn messages(&self) -> &'a [Message] {
        self.messages
    }

    /// Returns the tools of the node that makes the call; none outside of a node.
    pub fn tools(&self) -> &'a Tools {
        const NONE: &Tools = &Tools::empty();
        self.tools.unwrap_or(NONE)
    }

    /// Returns true if the result of the tool may be the answer of the agent: if the tool
    /// [returns directly](crate::Tool::returns_directly).
    pub fn returns_directly(&self) -> bool {
        let tool = self.tools().get(&self.call.name);
        tool.is_some_and(|tool| tool.returns_directly())
    }

    /// Returns the fields of the agent's middleware. What a tool writes needs an
    /// [agent](crate::react_agent) whose middleware declares the field.
    pub fn fields(&self) -> &FieldAccess<'a> {
        &self.fields
    }

    /// Returns the state of the graph that calls the tool.
    ///
    /// # Errors
    ///
    /// [`MissingState`] if the graph's state is not an `S`, or if no graph calls the tool.
    pub fn state<S: State>(&self) -> Result<&'a S, MissingState> {
        let state = self.state.and_then(|state| state.downcast_ref());
        state.ok_or(MissingState(std::any::type_name::<S>()))
    }

    /// As [`Context::interrupt`]. If several calls share one task (those of a
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
        let answer = match self.scope {
            None => self.cx.interrupt(key, question),
            Some(scope) => self.cx.interrupt(&format!("{scope}/{key}"), question),
        };
        match answer {
            Ok(_) => drop(self.answers.fetch_add(1, Ordering::Relaxed)),
            Err(_) => self.waits.store(true, Ordering::Relaxed),
        }
        answer
    }

    /// Returns how many answers of people this call has got so far.
    pub(crate) fn answers(&self) -> usize {
        self.answers.load(Ordering::Relaxed)
    }

    /// Returns true if this call, and not another one of its task, waits for an answer.
    pub(crate) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// As [`Context::once`], with the keys of [`interrupt`](Self::interrupt).
    ///
    /// # Errors
    ///
    /// As [`Context::once`].
    ///
    /// # Cancel safety
    ///
    /// As [`Context::once`].
    pub async fn once<T, E>(
        &self,
        key: impl Into<OnceKey>,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, ToolError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<ToolError>,
    {
        let key = self.own_key(key);
        let mut failed = None;
        let work = async {
            work.await.map_err(|error| {
                failed = Some(error.into());
                NodeError::msg("the work failed")
            })
        };
        let done = self.cx.once(key, work).await;
        done.map_err(|error| failed.unwrap_or_else(|| error.into()))
    }

    /// As [`once`](Self::once), for a closure that is not async.
    ///
    /// # Errors
    ///
    /// As [`once`](Self::once).
    pub async fn once_with<T, E>(
        &self,
        key: impl Into<OnceKey>,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, ToolError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<ToolError>,
    {
        self.once(key, async { work() }).await
    }

    /// As [`Context::idempotency_key`]: a key that no other call has.
    pub fn idempotency_key(&self, key: impl Into<OnceKey>) -> String {
        self.cx.idempotency_key(self.own_key(key))
    }

    /// Names an [`Effect`] of this call.
    pub fn effect(&self, key: impl Into<OnceKey>) -> Effect<'_> {
        Effect::new(self.cx, self.own_key(key))
    }

    fn own_key(&self, key: impl Into<OnceKey>) -> OnceKey {
        match self.scope {
            None => key.into(),
            Some(scope) => key.into().scoped(scope),
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

/// The error if a tool asks for the state of the graph and it has another type.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool wants the state `{0}`, and the graph that called it has no such state")]
pub struct MissingState(&'static str);

langgraph::debug_is_message!(MissingState);
