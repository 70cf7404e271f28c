//! The token usage of an answer, and its finish reason.

use std::fmt;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// The number of tokens that a model has read and written.
///
/// A state's field with `#[reducer(add)]` sums up the usage of all calls.
///
/// # Examples
///
/// ```
/// use langgraph::message::Usage;
///
/// let total = Usage::new(100, 20) + Usage::new(130, 5).with_cached(100);
/// assert_eq!(total, Usage::new(230, 25).with_cached(100));
/// assert_eq!(total.total(), 255);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Usage {
    /// The tokens that the model read.
    pub input_tokens: u64,
    /// The tokens that the model wrote.
    pub output_tokens: u64,
    /// Those input tokens that came from the provider's cache.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Those output tokens that were reasoning.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Creates a usage from the tokens read and written.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            ..Self::default()
        }
    }

    /// Sets the number of input tokens from the provider's cache.
    #[must_use]
    pub fn with_cached(mut self, tokens: u64) -> Self {
        self.cached_tokens = tokens;
        self
    }

    /// Sets the number of output tokens that were reasoning.
    #[must_use]
    pub fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
        self
    }

    /// Returns the sum of input and output tokens.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns the maximum of each count. Providers report running counts for one answer, and some
    /// report the input first and the output last.
    pub(super) fn at_least(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    fn zip(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            input_tokens: combine(self.input_tokens, other.input_tokens),
            output_tokens: combine(self.output_tokens, other.output_tokens),
            cached_tokens: combine(self.cached_tokens, other.cached_tokens),
            reasoning_tokens: combine(self.reasoning_tokens, other.reasoning_tokens),
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

/// Why a model stopped writing. On the wire, it is a name.
///
/// Some providers say [`Stop`](Self::Stop) when the model requests tools: check
/// [`Message::tool_calls`](super::Message::tool_calls).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The answer has reached the maximum length.
    Length,
    /// The model waits for tools.
    ToolCalls,
    /// The provider cut off the answer because of its content.
    ContentFilter,
    /// Another reason, in the provider's words.
    Other(String),
}

impl FinishReason {
    /// Returns its name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Other(reason) => reason,
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for FinishReason {
    fn from(reason: String) -> Self {
        match reason.as_str() {
            "stop" => Self::Stop,
            "length" => Self::Length,
            "tool_calls" => Self::ToolCalls,
            "content_filter" => Self::ContentFilter,
            _ => Self::Other(reason),
        }
    }
}

impl From<FinishReason> for String {
    fn from(reason: FinishReason) -> Self {
        match reason {
            FinishReason::Other(reason) => reason,
            known => known.as_str().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finish_reasons_keep_their_wire_form() {
        for name in [
            "stop",
            "length",
            "tool_calls",
            "content_filter",
            "pause_turn",
        ] {
            let reason: FinishReason = serde_json::from_value(json!(name)).unwrap();
            assert_eq!(
                matches!(reason, FinishReason::Other(_)),
                name == "pause_turn"
            );
            assert_eq!(serde_json::to_value(&reason).unwrap(), json!(name));
        }
    }

    #[test]
    fn usage_adds_up_and_keeps_its_wire_form() {
        let total: Usage = [Usage::new(1, 2), Usage::new(3, 4).with_reasoning(1)]
            .into_iter()
            .sum();
        let wire = json!({"input_tokens": 4, "output_tokens": 6, "reasoning_tokens": 1});
        assert_eq!(serde_json::to_value(total).unwrap(), wire);
        assert_eq!(serde_json::from_value::<Usage>(wire).unwrap(), total);
    }
}
