//! Chat models: messages in, a message or its chunks out.

mod bound;
mod cached;
mod call;
mod error;
mod failure;
mod fallback;
mod limited;
mod request;
mod stream;
mod structured;
mod surroundings;
mod tokens;

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{IntoTools, Limit};
use langgraph::message::{Message, MessageChunk};
use langgraph::node::Context;

pub use call::answer_as;
pub(super) use call::{respond, respond_inside};
pub(crate) use surroundings::Surroundings;
pub(crate) use tokens::estimate_message;

pub use bound::BoundModel;
pub use cached::{CachedModel, MemoryModelCache, ModelCache};
pub use error::{ModelError, ModelErrorKind};
pub use failure::ModelFailure;
pub use fallback::FallbackModel;
pub use limited::LimitedModel;
pub use request::{ChatRequest, ChatResponse, ResponseFormat, ToolChoice};
pub use structured::{STRUCTURED_CALLS, Structured, StructuredAnswer};
pub use tokens::TokenCount;

/// The answer of a model as a stream of pieces.
pub type ModelStream<'a> =
    Pin<Box<dyn Stream<Item = Result<MessageChunk, ModelError>> + Send + 'a>>;

/// A model that answers a chat.
///
/// A node takes the model from the run's resources. So a test runs the same graph on a
/// [`ScriptedModel`](super::ScriptedModel):
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::prelude::*;
/// use langgraph_agent::{MessagesState, MessagesStateUpdate, ScriptedModel};
///
/// async fn chat(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
///     let reply = cx.model()?.invoke(&state.messages, cx).await?;
///     Ok(MessagesStateUpdate::default().messages(vec![reply]))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::new();
/// graph.add_node("chat", chat).add_sequence(&["chat"]);
/// let graph = graph.compile()?;
///
/// let hi = MessagesStateUpdate::default().messages(vec![Message::user("hi")]);
/// let state = graph.run(hi).model(ScriptedModel::new(["Hello!"])).await?.finished()?;
/// assert_eq!(state.messages[1].text(), "Hello!");
/// # Ok(())
/// # }
/// ```
///
/// Callers use the methods of [`ChatModelExt`], which is in the prelude. They stream the answer
/// into the run's events if these have a subscriber.
///
/// # Implementing a model
///
/// [`generate`](Self::generate) is enough. A model that can stream also implements
/// [`stream`](Self::stream).
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::prelude::*;
///
/// /// Repeats the last message.
/// struct Echo;
///
/// #[async_trait]
/// impl ChatModel for Echo {
///     async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
///         let last = request.messages.last().map(|message| message.text().into_owned());
///         Ok(ChatResponse::new(Message::assistant(last.unwrap_or_default())))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let response = Echo.generate(ChatRequest::new(vec![Message::user("hi")])).await?;
/// assert_eq!(response.message.text(), "hi");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Answers `request` in one piece.
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError>;

    /// Answers `request` piece by piece. The last piece says why the message ends
    /// ([`MessageChunk::finish_reason`]); a stream that ends without a reason was cut off.
    ///
    /// The default is the whole answer as one piece.
    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        Box::pin(stream::Whole::new(self.generate(request)))
    }

    /// Returns the name of the model, for prices and traces.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Returns the name of the provider, for traces: `openai`, `anthropic`.
    fn provider(&self) -> Option<&str> {
        None
    }

    /// Returns the names of all models that may answer; by default the [name](Self::name) alone. A
    /// budget of money reserves the price of the most expensive one.
    fn names(&self) -> Vec<&str> {
        vec![self.name().unwrap_or_default()]
    }

    /// Returns the request with what this model adds to each one, such as its tools. A model that takes its place in a
    /// call, the cheaper one of a [`Budget`](crate::Budget) for instance, gets that request.
    fn prepare(&self, request: ChatRequest) -> ChatRequest {
        request
    }

    /// Returns the answer to a request if it is known without a call. It costs nothing, so no budget
    /// is asked for it.
    async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
        let _ = request;
        None
    }

    /// Returns the number of tokens of a request, before it is sent. The default is an
    /// [estimate](TokenCount::estimate).
    async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
        Ok(TokenCount::estimate(request))
    }
}

macro_rules! pointers {
    ($($pointer:ty)*) => {$(
        #[async_trait]
        impl<M: ChatModel + ?Sized> ChatModel for $pointer {
            async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
                (**self).generate(request).await
            }

            fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
                (**self).stream(request)
            }

            fn name(&self) -> Option<&str> {
                (**self).name()
            }

            fn provider(&self) -> Option<&str> {
                (**self).provider()
            }

            fn names(&self) -> Vec<&str> {
                (**self).names()
            }

            fn prepare(&self, request: ChatRequest) -> ChatRequest {
                (**self).prepare(request)
            }

            async fn cached_answer(&self, request: &ChatRequest) -> Option<ChatResponse> {
                (**self).cached_answer(request).await
            }

            async fn count_tokens(&self, request: &ChatRequest) -> Result<TokenCount, ModelError> {
                (**self).count_tokens(request).await
            }
        }
    )*};
}

pointers!(&M Arc<M> Box<M>);

/// The methods by which nodes call a [`ChatModel`]. Every model has them, including
/// `dyn ChatModel`.
pub trait ChatModelExt: ChatModel {
    /// Returns the model's answer to `messages`.
    ///
    /// If the run's messages have a subscriber
    /// ([`StreamMode::Messages`](langgraph::stream::StreamMode::Messages)), the answer also streams there as it
    /// arrives, under the id of the returned message.
    ///
    /// # Errors
    ///
    /// [`ModelError`]. If the answer was cut off, its kind is [`ModelErrorKind::Incomplete`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the request.
    fn invoke<'a>(
        &'a self,
        messages: &'a [Message],
        cx: &'a Context,
    ) -> impl Future<Output = Result<Message, ModelError>> + Send + 'a {
        async move {
            let request = ChatRequest::new(messages.to_vec());
            Ok(call::respond(self, request, Some(cx)).await?.message)
        }
    }

    /// Returns the model's answer to `request`, with its usage and finish reason; otherwise as
    /// [`invoke`](Self::invoke).
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke).
    fn respond<'a>(
        &'a self,
        request: ChatRequest,
        cx: &'a Context,
    ) -> impl Future<Output = Result<ChatResponse, ModelError>> + Send + 'a {
        call::respond(self, request, Some(cx))
    }

    /// Returns the model's answer as a `T`. The model receives the JSON schema of `T`, and its
    /// answer is parsed as a `T`. It does not stream into the run's events; a request with
    /// [`streamed(true)`](ChatRequest::streamed) does.
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke); [`ModelErrorKind::InvalidOutput`] if the answer is not a `T`.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_agent::prelude::*;
    /// use langgraph_agent::ScriptedModel;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct City {
    ///     name: String,
    ///     people: u64,
    /// }
    ///
    /// async fn ask(text: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let model = ScriptedModel::new([r#"{"name": "Paris", "people": 2100000}"#]);
    ///     let city: City = model.invoke_structured(&[Message::user(text.as_str())], cx).await?;
    ///     Ok(format!("{}: {}", city.name, city.people))
    /// }
    /// # let _ = ask;
    /// ```
    fn invoke_structured<'a, T: JsonSchema + DeserializeOwned + 'a>(
        &'a self,
        messages: &'a [Message],
        cx: &'a Context,
    ) -> impl Future<Output = Result<T, ModelError>> + Send + 'a {
        async move {
            let format = ResponseFormat::of::<T>();
            let request = ChatRequest::new(messages.to_vec()).response_format(format);
            let message = call::respond(self, request, Some(cx)).await?.message;
            call::answer_as(&message.text())
        }
    }

    /// Starts a request whose answer is a `T`. If the answer does not parse, the model repairs it.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_agent::prelude::*;
    /// use langgraph_agent::ScriptedModel;
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Verdict {
    ///     guilty: bool,
    /// }
    ///
    /// async fn judge(text: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let model = ScriptedModel::new([r#"{"guilty": "no"}"#, r#"{"guilty": false}"#]);
    ///     let question = ChatRequest::new(vec![Message::user(text.as_str())]);
    ///     let verdict = model.structured::<Verdict>(question).repairs(1).send(cx).await?;
    ///     Ok(format!("{}, repaired {} times", verdict.value.guilty, verdict.repairs))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<String>::new();
    /// graph.add_node("judge", judge).add_sequence(&["judge"]);
    /// let verdict = graph.compile()?.invoke("The butler?".to_owned()).await?;
    /// assert_eq!(verdict, "false, repaired 1 times");
    /// # Ok(())
    /// # }
    /// ```
    fn structured<T: JsonSchema + DeserializeOwned>(
        &self,
        request: ChatRequest,
    ) -> Structured<'_, Self, T> {
        Structured::new(self, request)
    }

    /// Returns a model that asks `other` if this one fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{ChatModelExt, ModelError, ModelErrorKind, ScriptedModel};
    ///
    /// let down = ScriptedModel::new([ModelError::new(ModelErrorKind::Timeout, "no answer")]);
    /// let model = down.or(ScriptedModel::new(["hi"])).when(ModelError::is_retryable);
    /// # let _ = model;
    /// ```
    fn or(self, other: impl ChatModel + 'static) -> FallbackModel
    where
        Self: Sized + 'static,
    {
        FallbackModel::new(self, other)
    }

    /// Returns the model behind a cache: it does not answer an equal request twice.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use langgraph_agent::{ChatModelExt, MemoryModelCache, ScriptedModel};
    ///
    /// let hour = MemoryModelCache::new(Duration::from_secs(3600));
    /// let model = ScriptedModel::new(["hi"]).cached(hour);
    /// # let _ = model;
    /// ```
    fn cached(self, cache: impl ModelCache) -> CachedModel<Self>
    where
        Self: Sized,
    {
        CachedModel::new(self, cache)
    }

    /// Returns the model behind a limit; see [`limit`](crate::limit). An answer from a cache waits for nothing,
    /// whichever of the two is around the other.
    fn limited(self, limit: Limit) -> LimitedModel<Self>
    where
        Self: Sized,
    {
        LimitedModel::new(self, limit)
    }

    /// Returns the model with these tools, offered in every request that names none.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::{ChatModelExt, FnTool, ScriptedModel};
    ///
    /// let now = FnTool::new("now", "The time.", || async { "12:00" });
    /// let model = ScriptedModel::new(["noon"]).bind_tools((now,));
    /// # let _ = model;
    /// ```
    fn bind_tools<K>(self, tools: impl IntoTools<K>) -> BoundModel<Self>
    where
        Self: Sized,
    {
        BoundModel::new(self, tools.into_tools().definitions())
    }
}

impl<M: ChatModel + ?Sized> ChatModelExt for M {}
