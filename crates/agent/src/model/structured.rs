//! Answers as Rust types.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{ChatModel, ChatRequest, ModelError, ModelErrorKind, ResponseFormat, call};
use langgraph::graph::Calls;
use langgraph::message::{Message, Usage};
use langgraph::node::Context;

/// How often a model may repair its answer, unless the request says otherwise.
const REPAIRS: u32 = 2;

/// What a request for a value calls at worst, unless it sets its [`repairs`](Structured::repairs): a node that makes
/// one declares it with [`NodeExt::calls`](langgraph::graph::NodeExt::calls).
pub const STRUCTURED_CALLS: Calls = Calls {
    model: 1 + REPAIRS,
    tool: 0,
};

/// A request whose answer is a `T`; see
/// [`ChatModelExt::structured`](super::ChatModelExt::structured).
#[must_use = "a request does nothing until it is sent"]
pub struct Structured<'a, M: ?Sized, T> {
    model: &'a M,
    request: ChatRequest,
    repairs: u32,
    answer: PhantomData<fn() -> T>,
}

/// An answer as a `T`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StructuredAnswer<T> {
    /// The answer.
    pub value: T,
    /// How often the model had to repair it.
    pub repairs: u32,
    /// The tokens of all attempts, as far as the provider says.
    pub usage: Usage,
}

impl<'a, M: ChatModel + ?Sized, T: JsonSchema + DeserializeOwned> Structured<'a, M, T> {
    pub(super) fn new(model: &'a M, request: ChatRequest) -> Self {
        Self {
            model,
            request: request.response_format(ResponseFormat::of::<T>()),
            repairs: REPAIRS,
            answer: PhantomData,
        }
    }

    /// Sets how often the model may repair its answer; the default is 2.
    pub fn repairs(mut self, repairs: u32) -> Self {
        self.repairs = repairs;
        self
    }

    /// Sends the request. If the answer is not a `T`, the model gets it back with the reason.
    ///
    /// # Errors
    ///
    /// As [`ChatModelExt::invoke`](super::ChatModelExt::invoke);
    /// [`ModelErrorKind::InvalidOutput`] if the last answer is not a `T` either.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the request.
    pub async fn send(self, cx: &Context) -> Result<StructuredAnswer<T>, ModelError> {
        let Self {
            model,
            mut request,
            repairs,
            ..
        } = self;
        let mut usage = Usage::default();
        let mut repaired = 0;
        loop {
            let response = call::respond(model, request.clone(), Some(cx)).await?;
            usage += response.usage.unwrap_or_default();
            match call::answer_as(&response.message.text()) {
                Ok(value) => {
                    return Ok(StructuredAnswer {
                        value,
                        repairs: repaired,
                        usage,
                    });
                }
                Err(error) if repaired < repairs => {
                    repaired += 1;
                    request.messages.push(response.message);
                    let ask =
                        format!("{error}\nAnswer again, with nothing but the corrected JSON.");
                    request.messages.push(Message::user(ask));
                }
                Err(error) => {
                    let text = format!("{error} (after {repaired} repairs)");
                    return Err(ModelError::new(ModelErrorKind::InvalidOutput, text));
                }
            }
        }
    }
}

impl<M: ?Sized, T> fmt::Debug for Structured<'_, M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Structured")
            .field("request", &self.request)
            .field("repairs", &self.repairs)
            .finish_non_exhaustive()
    }
}
