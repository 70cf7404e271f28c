//! A recorded request and its answer.

use langgraph::message::{Message, MessageChunk};
use langgraph_agent::{CallCost, ChatModel, ChatRequest, ChatResponse, ModelError, ModelFailure};
use serde::{Deserialize, Serialize};

/// A request and its answer, as they are stored.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Exchange {
    #[serde(default, skip_serializing_if = "ModelName::is_empty")]
    pub(crate) model: ModelName,
    pub(crate) digest: String,
    pub(crate) request: ChatRequest,
    #[serde(flatten)]
    pub(crate) answer: Recorded,
    /// The chunks of the answer, if it was streamed; those before the failure, if it failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) chunks: Vec<MessageChunk>,
    /// True if the reader of the stream left before its end: the answer is not known any further.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) left_early: bool,
    /// What the answers have cost that the model refused before this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) refused: Vec<CallCost>,
}

/// What came of a request: the field of the exchange has the name of the variant.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Recorded {
    Response(ChatResponse),
    Failure(ModelFailure),
}

/// The names of a model, for prices and traces.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ModelName {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
    /// All models that may answer, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
}

impl Exchange {
    pub(crate) fn new(model: &ModelName, request: ChatRequest, answer: Recorded) -> Self {
        Self {
            model: model.clone(),
            digest: request.digest(),
            request,
            answer,
            chunks: Vec::new(),
            left_early: false,
            refused: Vec::new(),
        }
    }

    /// Creates the exchange of a request to the model of this name.
    pub(crate) fn of(model: Option<&str>, request: ChatRequest, answer: Message) -> Self {
        let model = ModelName {
            name: model.map(str::to_owned),
            ..ModelName::default()
        };
        Self::new(
            &model,
            request,
            Recorded::Response(ChatResponse::new(answer)),
        )
    }

    /// Returns it with another request.
    pub(crate) fn cleaned(mut self, clean: impl FnOnce(ChatRequest) -> ChatRequest) -> Self {
        self.request = clean(self.request);
        self.digest = self.request.digest();
        self
    }

    /// Hides texts of the request. It still answers the request that has them.
    pub(crate) fn hide<E>(
        &mut self,
        hide: impl FnOnce(&ChatRequest) -> Result<ChatRequest, E>,
    ) -> Result<(), E> {
        self.request = hide(&self.request)?;
        Ok(())
    }

    /// Returns true if another exchange has the same request to the same model, and the same answer.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let answer = |exchange: &Self| {
            let mut message = exchange.answer.message().cloned();
            if let Some(message) = &mut message {
                message.id = None;
            }
            message
        };
        (&self.digest, &self.model, answer(self)) == (&other.digest, &other.model, answer(other))
    }

    /// Returns the chunks of the stream, or those of the whole answer, and the failure behind them.
    pub(crate) fn into_chunks(self) -> (Vec<MessageChunk>, Option<ModelError>) {
        match self.answer {
            Recorded::Failure(failure) => (self.chunks, Some(failure.into())),
            Recorded::Response(response) if self.chunks.is_empty() => {
                (response.into_chunks(), None)
            }
            Recorded::Response(_) => (self.chunks, None),
        }
    }
}

impl Recorded {
    pub(crate) fn of(answer: &Result<ChatResponse, ModelError>) -> Self {
        match answer {
            Ok(response) => Self::Response(response.clone()),
            Err(error) => Self::Failure(ModelFailure::of(error)),
        }
    }

    pub(crate) fn into_result(self) -> Result<ChatResponse, ModelError> {
        match self {
            Self::Response(response) => Ok(response),
            Self::Failure(failure) => Err(failure.into()),
        }
    }

    /// Returns the message, if the model has answered.
    pub(crate) fn message(&self) -> Option<&Message> {
        match self {
            Self::Response(response) => Some(&response.message),
            Self::Failure(_) => None,
        }
    }

    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::Failure(_))
    }

    /// Returns true if the answer was known without a call.
    pub(crate) fn is_cached(&self) -> bool {
        matches!(self, Self::Response(response) if response.metadata.cached)
    }
}

impl ModelName {
    pub(crate) fn of(model: &impl ChatModel) -> Self {
        let name = model.name().map(str::to_owned);
        let others = model.names().into_iter().map(str::to_owned);
        Self {
            provider: model.provider().map(str::to_owned),
            others: others
                .filter(|other| *other != name.as_deref().unwrap_or_default())
                .collect(),
            name,
        }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        let others = self.others.iter().map(String::as_str);
        let own = self.name.as_deref().unwrap_or_default();
        std::iter::once(own).chain(others).collect()
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
