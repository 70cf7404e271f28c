//! The request to a model, and its response.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ModelError;
use crate::budget::{Bill, CallCost};
use crate::{ToolDefinition, schema_of};
use langgraph::message::{
    ContentPart, FinishReason, Message, MessageAccumulator, MessageChunk, MessageKind,
    ResponseMetadata, Usage,
};

/// The request to a model.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::ChatRequest;
///
/// let request = ChatRequest::new(vec![Message::user("hi")])
///     .system("Be brief.")
///     .temperature(0.0);
/// // The instructions are the first message.
/// assert!(request.messages[0].is_system());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The chat so far, with the instructions first.
    pub messages: Vec<Message>,
    /// The tools that the model can call.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may, must or must not call them.
    pub tool_choice: ToolChoice,
    /// The form of the answer; the default is text.
    pub response_format: Option<ResponseFormat>,
    /// The randomness of the answer; the provider's default unless set.
    pub temperature: Option<f64>,
    /// The limit of tokens in the answer; the provider's default unless set.
    pub max_tokens: Option<u32>,
    /// Texts at which the answer stops.
    pub stop: Vec<String>,
    /// Whether the answer streams into the run's events as it arrives. Unless set, text does, and an
    /// answer with a response format does not.
    #[serde(skip)]
    pub streamed: Option<bool>,
    /// The answers whose place another one takes.
    #[serde(skip)]
    pub(crate) bill: Bill,
}

impl ChatRequest {
    /// Creates a request for the next message of a chat.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    /// Puts instructions before the chat.
    #[must_use]
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.messages.insert(0, Message::system(prompt.into()));
        self
    }

    /// Adds instructions after those that the request has.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_agent::ChatRequest;
    ///
    /// let request = ChatRequest::new(vec![Message::user("hi")]).system("Be brief.").instruct("Be kind.");
    /// assert_eq!(request.messages[0].text(), "Be brief.\n\nBe kind.");
    /// ```
    #[must_use]
    pub fn instruct(mut self, text: &str) -> Self {
        match self.messages.first_mut().map(|first| &mut first.kind) {
            Some(MessageKind::System(known)) => {
                known.push_str("\n\n");
                known.push_str(text);
            }
            Some(MessageKind::SystemParts(parts)) => parts.push(ContentPart::text(text)),
            _ => return self.system(text),
        }
        self
    }

    /// Offers the model these tools.
    #[must_use]
    pub fn tools(mut self, tools: Vec<ToolDefinition>) -> Self {
        self.tools = tools;
        self
    }

    /// Sets whether the model may, must or must not call tools.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Requests an answer of that form.
    #[must_use]
    pub fn response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = Some(format);
        self
    }

    /// Sets the randomness of the answer.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the limit of tokens in the answer.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets whether the answer streams into the run's events as it arrives. By default, text does, and
    /// an answer with a [response format](Self::response_format) does not.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_agent::ChatRequest;
    ///
    /// // The summary is not part of the conversation.
    /// let request = ChatRequest::new(vec![Message::user("Summarise.")]).streamed(false);
    /// # let _ = request;
    /// ```
    #[must_use]
    pub fn streamed(mut self, streamed: bool) -> Self {
        self.streamed = Some(streamed);
        self
    }

    /// Returns the SHA-256 digest of the request: what the model sees, without the messages' ids.
    pub fn digest(&self) -> String {
        let mut request = self.clone();
        for message in &mut request.messages {
            message.id = None;
        }
        let value = serde_json::to_value(&request);
        crate::digest::digest(&value.unwrap_or_default())
    }

    /// Counts what an answer has cost that ended in this error, if the error has a [cost](ModelError::behind_answer): a
    /// model says so before it asks for another answer to the request. The error that it returns is counted without.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_agent::prelude::*;
    ///
    /// /// Asks once more if the first answer is not good.
    /// struct Twice<M>(M);
    ///
    /// #[async_trait]
    /// impl<M: ChatModel> ChatModel for Twice<M> {
    ///     async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
    ///         match self.0.generate(request.clone()).await {
    ///             Err(error) if error.is_retryable() => request.charge(&error),
    ///             answer => return answer,
    ///         }
    ///         self.0.generate(request).await
    ///     }
    /// }
    /// ```
    pub fn charge(&self, error: &ModelError) {
        if let Some(cost) = error.cost() {
            self.bill.add(cost.clone());
        }
    }

    /// Counts what was charged before to an equal request: a model does so whose answers are recorded ones.
    pub fn charge_again(&self, costs: &[CallCost]) {
        for cost in costs {
            self.bill.add(cost.clone());
        }
    }

    /// Returns the request with a bill that has what is [charged](Self::charge) to it from now on. It is charged to
    /// this request, too.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_agent::{ChatRequest, ChatResponse, ModelError, ModelErrorKind};
    ///
    /// let (request, bill) = ChatRequest::new(vec![Message::user("hi")]).with_bill();
    /// let answer = ChatResponse::new(Message::assistant("a secret"));
    /// let refused = ModelError::new(ModelErrorKind::InvalidOutput, "it has a secret");
    /// request.charge(&refused.behind_answer(&answer));
    /// assert_eq!(bill.costs().len(), 1);
    /// ```
    #[must_use]
    pub fn with_bill(&self) -> (Self, Bill) {
        let bill = self.bill.inner();
        let request = Self {
            bill: bill.clone(),
            ..self.clone()
        };
        (request, bill)
    }

    /// Adds a text at which the answer stops.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }
}

/// Whether a model may, must or must not call tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model may call tools.
    #[default]
    Auto,
    /// The model must call at least one tool.
    Required,
    /// The model must not call tools.
    None,
    /// The model must call the tool of that name.
    Tool(String),
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResponseFormat {
    /// The name of the form.
    pub name: String,
    /// The JSON schema of the answer.
    pub schema: Value,
}

impl ResponseFormat {
    /// Requests JSON that follows `schema`.
    pub fn json(name: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            schema,
        }
    }

    /// Requests JSON that can be read as a `T`.
    pub fn of<T: JsonSchema>() -> Self {
        Self::json(T::schema_name(), schema_of::<T>())
    }
}

/// The response of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChatResponse {
    /// The message.
    pub message: Message,
    /// The tokens used, if the provider says so.
    pub usage: Option<Usage>,
    /// Why the answer ends, if the provider says so.
    pub finish_reason: Option<FinishReason>,
    /// Which model answered.
    #[serde(default)]
    pub metadata: ResponseMetadata,
}

impl ChatResponse {
    /// Creates a response from a message.
    pub fn new(message: Message) -> Self {
        Self {
            message,
            usage: None,
            finish_reason: None,
            metadata: ResponseMetadata::default(),
        }
    }

    /// Returns the response that arrived in chunks.
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::Incomplete`](super::ModelErrorKind::Incomplete) if no chunk said why the message ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::message::{FinishReason, MessageAccumulator, MessageChunk};
    /// use langgraph_agent::ChatResponse;
    ///
    /// let mut chunks = MessageAccumulator::new();
    /// chunks.push(MessageChunk::text("Hello"));
    /// assert!(ChatResponse::from_chunks(chunks.clone()).is_err());
    /// chunks.push(MessageChunk::finish(FinishReason::Stop));
    /// assert_eq!(ChatResponse::from_chunks(chunks)?.message.text(), "Hello");
    /// # Ok::<(), langgraph_agent::ModelError>(())
    /// ```
    pub fn from_chunks(chunks: MessageAccumulator) -> Result<Self, ModelError> {
        let Some(finish_reason) = chunks.finish_reason().cloned() else {
            return Err(ModelError::cut_off().behind_chunks(chunks));
        };
        Ok(Self::so_far(chunks).with_finish_reason(finish_reason))
    }

    /// Returns what the chunks have brought so far.
    pub(super) fn so_far(chunks: MessageAccumulator) -> Self {
        let (usage, metadata) = (chunks.usage(), chunks.metadata().clone());
        let mut response = Self::new(chunks.finish()).with_metadata(metadata);
        response.usage = usage;
        response
    }

    /// Returns the response as the chunks of a stream: its blocks of reasoning, then the rest.
    pub fn into_chunks(self) -> Vec<MessageChunk> {
        let mut chunks = MessageChunk::split(&self.message);
        if let Some(first) = chunks.first_mut()
            && self.metadata != ResponseMetadata::default()
        {
            first.metadata = Some(Box::new(self.metadata));
        }
        if let Some(last) = chunks.last_mut() {
            last.usage = self.usage;
            last.finish_reason = Some(self.finish_reason.unwrap_or_else(|| {
                if self.message.tool_calls().is_empty() {
                    FinishReason::Stop
                } else {
                    FinishReason::ToolCalls
                }
            }));
        }
        chunks
    }

    /// Sets the usage.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets which model answered.
    #[must_use]
    pub fn with_metadata(mut self, metadata: ResponseMetadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Sets the finish reason.
    #[must_use]
    pub fn with_finish_reason(mut self, reason: FinishReason) -> Self {
        self.finish_reason = Some(reason);
        self
    }
}
