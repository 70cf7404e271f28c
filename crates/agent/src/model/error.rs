//! Why a model did not answer.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use langgraph::error::{NodeError, Transient};
use langgraph::message::MessageAccumulator;
use langgraph::policy::RetryPolicy;
use serde::{Deserialize, Serialize};

use super::ChatResponse;
use crate::budget::CallCost;

/// Why a model did not answer.
///
/// # Examples
///
/// No model retries by itself; its node does:
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesState, ModelError, ModelNode, ScriptedModel};
///
/// let chat = ModelNode::new(ScriptedModel::new(["hi"])).retry(ModelError::retries(4));
/// let mut graph = StateGraph::<MessagesState>::new();
/// graph.add_node("chat", chat);
/// ```
pub struct ModelError {
    kind: ModelErrorKind,
    message: String,
    retry_after: Option<Duration>,
    /// True if it was stored and is given again: the time that the provider asked for is over.
    is_stored: bool,
    source: Option<Box<dyn Error + Send + Sync + 'static>>,
    /// The cause of an error that may not happen again, and what is known of it.
    transient: Option<Transient>,
    /// What the call has cost, if the model has answered.
    cost: Option<Box<CallCost>>,
}

/// What kind of failure a [`ModelError`] is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The provider wants fewer requests.
    RateLimited {
        /// How long it asks to wait, if it says.
        retry_after: Option<Duration>,
    },
    /// The provider did not answer in time.
    Timeout,
    /// The provider could not be reached, or the connection broke.
    Transport,
    /// The answer was cut off.
    Incomplete,
    /// The provider refuses the request.
    InvalidRequest,
    /// The provider refuses the key.
    Auth,
    /// The request is longer than the model's context.
    ContextLength,
    /// The run's [`Budget`](crate::Budget) does not allow the call. The error's source is
    /// [`BudgetExceeded`](crate::BudgetExceeded).
    BudgetExceeded,
    /// The answer does not have the requested form.
    InvalidOutput,
    /// The provider failed.
    Provider {
        /// The HTTP status, if there was a response.
        status: Option<u16>,
    },
}

impl ModelErrorKind {
    /// Returns the kind as a word, for traces.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::Timeout => "timeout",
            Self::Transport => "transport",
            Self::Incomplete => "incomplete",
            Self::InvalidRequest => "invalid_request",
            Self::Auth => "auth",
            Self::ContextLength => "context_length",
            Self::BudgetExceeded => "budget_exceeded",
            Self::InvalidOutput => "invalid_output",
            Self::Provider { .. } => "provider",
        }
    }
}

impl ModelError {
    /// Creates an error of that kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let error = Self {
            kind,
            message: message.into(),
            retry_after: None,
            is_stored: false,
            source: None,
            transient: None,
            cost: None,
        };
        error.marked(None)
    }

    /// Returns a stored error that is given again. It says how long the provider has asked to wait, and no policy
    /// waits for it.
    pub(super) fn stored(mut self) -> Self {
        self.is_stored = true;
        self.transient = None;
        self.marked(None)
    }

    /// Says in the causes that a later attempt may succeed, if it may: to retry policies, and to callers that
    /// reads the error without knowing models.
    fn marked(mut self, source: Option<Box<dyn Error + Send + Sync>>) -> Self {
        if !self.is_retryable() {
            self.source = source.or(self.source);
            return self;
        }
        let mut transient = self.transient.take().unwrap_or_default();
        if let Some(wait) = self.wait() {
            transient = transient.after(wait);
        }
        if let Some(source) = source {
            transient = transient.with_source(source);
        }
        self.transient = Some(transient);
        self
    }

    /// Sets the source of the error.
    #[must_use]
    pub fn with_source(self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.marked(Some(source.into()))
    }

    /// Sets how long the provider asks to wait. For a rate limit, the kind holds it.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self.marked(None)
    }

    /// Says that the model has given this answer, and that it is refused: the call was paid for, and a
    /// [`Budget`](crate::Budget) counts it. The error does not keep the answer.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{ChatResponse, ModelError, ModelErrorKind};
    ///
    /// fn checked(response: ChatResponse) -> Result<ChatResponse, ModelError> {
    ///     if response.message.text().contains("secret") {
    ///         let refused = ModelError::new(ModelErrorKind::InvalidOutput, "the answer has a secret");
    ///         return Err(refused.behind_answer(&response));
    ///     }
    ///     Ok(response)
    /// }
    /// # let _ = checked;
    /// ```
    #[must_use]
    pub fn behind_answer(mut self, response: &ChatResponse) -> Self {
        self.cost = Some(Box::new(CallCost::of(response)));
        self
    }

    /// As [`behind_answer`](Self::behind_answer), for a stream that has brought these chunks before the error. An error
    /// that has its cost keeps it; without a chunk there is none.
    #[must_use]
    pub fn behind_chunks(self, read: MessageAccumulator) -> Self {
        if self.cost.is_some() || read.id().is_none() {
            return self;
        }
        self.behind_answer(&ChatResponse::so_far(read))
    }

    /// Sets what the call has cost.
    pub(super) fn with_cost(mut self, cost: Option<CallCost>) -> Self {
        self.cost = cost.map(Box::new);
        self
    }

    /// Returns what the call has cost, if the model has answered.
    pub(crate) fn cost(&self) -> Option<&CallCost> {
        self.cost.as_deref()
    }

    /// Says which model gave the answer that it refuses, if that did not say it.
    pub(super) fn sign(&mut self, model: Option<&str>) {
        if let Some(cost) = &mut self.cost {
            cost.sign(model);
        }
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> &ModelErrorKind {
        &self.kind
    }

    /// Returns true if the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        match &self.kind {
            ModelErrorKind::RateLimited { .. }
            | ModelErrorKind::Timeout
            | ModelErrorKind::Transport
            | ModelErrorKind::Incomplete
            | ModelErrorKind::InvalidOutput => true,
            ModelErrorKind::Provider { status } => status.is_none_or(|status| status >= 500),
            ModelErrorKind::InvalidRequest
            | ModelErrorKind::Auth
            | ModelErrorKind::ContextLength
            | ModelErrorKind::BudgetExceeded => false,
        }
    }

    /// Returns how long the provider asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            ModelErrorKind::RateLimited {
                retry_after: Some(wait),
            } => Some(wait),
            _ => self.retry_after,
        }
    }

    /// Returns how long to wait before the next attempt.
    fn wait(&self) -> Option<Duration> {
        self.retry_after().filter(|_| !self.is_stored)
    }

    /// The error of a stream that ends without its last chunk.
    pub(super) fn cut_off() -> Self {
        Self::new(
            ModelErrorKind::Incomplete,
            "the model's answer was cut off: its stream ended without saying why the message ends",
        )
    }

    /// The error outside of a run, which has no model.
    pub(crate) fn no_model() -> Self {
        Self::new(
            ModelErrorKind::InvalidRequest,
            "no model: outside of a run there is no resource to take one from",
        )
    }

    /// A policy for a node that calls a model. It makes at most that many attempts, retries only
    /// what [`is_retryable`](Self::is_retryable), and waits as long as the provider asks.
    pub fn retries(attempts: u32) -> RetryPolicy {
        RetryPolicy::attempts(attempts)
            .retry_on(Self::is_worth_retrying)
            .retry_after(Self::wait)
    }

    /// Returns true if a node failed because of a model and a retry may succeed. It is the
    /// predicate of [`retries`](Self::retries).
    pub fn is_worth_retrying(error: &NodeError) -> bool {
        error.downcast_ref::<Self>().is_some_and(Self::is_retryable)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let transient = self.transient.as_ref().map(|cause| cause as _);
        transient.or_else(|| self.source.as_deref().map(|source| source as _))
    }
}

langgraph::debug_is_message!(ModelError);
