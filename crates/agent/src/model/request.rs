//! What a model is asked, and what it answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ToolDefinition, schema_of};
use langgraph::message::{FinishReason, Message, Usage};

/// What a model is asked.
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
    /// What the model can ask to be called.
    pub tools: Vec<ToolDefinition>,
    /// Whether it may, must or must not.
    pub tool_choice: ToolChoice,
    /// The form of the answer; text unless set.
    pub response_format: Option<ResponseFormat>,
    /// How much chance there is in the answer; the provider's default unless set.
    pub temperature: Option<f64>,
    /// How many tokens the answer may have; the provider's default unless set.
    pub max_tokens: Option<u32>,
    /// Texts at which the answer ends.
    pub stop: Vec<String>,
}

impl ChatRequest {
    /// Asks for the next message of a chat.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    /// Puts instructions before the chat.
    #[must_use]
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.messages.insert(0, Message::system(prompt));
        self
    }

    /// Offers the model these tools.
    #[must_use]
    pub fn tools(mut self, tools: Vec<ToolDefinition>) -> Self {
        self.tools = tools;
        self
    }

    /// Says whether the model may, must or must not call tools.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Asks for an answer of that form.
    #[must_use]
    pub fn response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = Some(format);
        self
    }

    /// Sets how much chance there is in the answer.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets how many tokens the answer may have.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Adds a text at which the answer ends.
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
    /// It may.
    #[default]
    Auto,
    /// It must call at least one.
    Required,
    /// It must not.
    None,
    /// It must call the tool of that name.
    Tool(String),
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResponseFormat {
    /// What the answer is called.
    pub name: String,
    /// The JSON schema that it follows.
    pub schema: Value,
}

impl ResponseFormat {
    /// JSON that follows `schema`.
    pub fn json(name: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            schema,
        }
    }

    /// JSON that can be read as a `T`.
    pub fn of<T: JsonSchema>() -> Self {
        Self::json(T::schema_name(), schema_of::<T>())
    }
}

/// What a model answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChatResponse {
    /// The message.
    pub message: Message,
    /// What it cost, if the provider says so.
    pub usage: Option<Usage>,
    /// Why it ends, if the provider says so.
    pub finish_reason: Option<FinishReason>,
}

impl ChatResponse {
    /// That message.
    pub fn new(message: Message) -> Self {
        Self {
            message,
            usage: None,
            finish_reason: None,
        }
    }

    /// Says what it cost.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Says why it ends.
    #[must_use]
    pub fn with_finish_reason(mut self, reason: FinishReason) -> Self {
        self.finish_reason = Some(reason);
        self
    }
}
