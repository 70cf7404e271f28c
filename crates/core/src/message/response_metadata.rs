//! The origin of a model's message.

use serde::{Deserialize, Serialize};

/// The origin of a model's message: which model answered, and under which id.
///
/// # Examples
///
/// ```
/// use langgraph::message::{MessageChunk, ResponseMetadata};
///
/// let origin = ResponseMetadata::of("gpt-5-mini").with_id("resp_1");
/// let chunk = MessageChunk::text("hi").with_metadata(origin);
/// assert_eq!(chunk.metadata.unwrap().model.as_deref(), Some("gpt-5-mini"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ResponseMetadata {
    /// The name of the answering model in the program. Prices are listed under it. Without one, it is
    /// the model that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The provider of the answering model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The answering model, as its provider reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's id of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// True if the answer comes from a cache: it cost nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

impl ResponseMetadata {
    /// Creates the metadata of an answer from the model that its provider calls `model`.
    pub fn of(model: impl Into<String>) -> Self {
        Self {
            model: Some(model.into()),
            ..Self::default()
        }
    }

    /// Sets the provider's id of the response.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds what `other` has beyond it.
    pub fn complete(&mut self, other: Self) {
        self.name = self.name.take().or(other.name);
        self.provider = self.provider.take().or(other.provider);
        self.model = self.model.take().or(other.model);
        self.id = self.id.take().or(other.id);
        self.cached |= other.cached;
    }
}
