//! What a model's answer cost, and why it ended.

use std::fmt;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// How many tokens a model has read and written.
///
/// It can be a field of a state that adds up what all calls have used: `#[reducer(add)]`.
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
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Of those it read, the ones that the provider had read before.
    #[serde(skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Of those it wrote, the ones that were reasoning.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// So many tokens read and written.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            ..Self::default()
        }
    }

    /// Says how many of the tokens read came from the provider's cache.
    #[must_use]
    pub fn with_cached(mut self, tokens: u64) -> Self {
        self.cached_tokens = tokens;
        self
    }

    /// Says how many of the tokens written were reasoning.
    #[must_use]
    pub fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = tokens;
        self
    }

    /// Tokens read and written together.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The greater of each count. The reports of one answer are counts so far, and some providers
    /// report what was read first and what was written last.
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

/// Why a model stopped writing. On the wire: its name.
///
/// Some providers say [`Stop`](Self::Stop) when the model asks for tools: look at
/// [`Message::tool_calls`](super::Message::tool_calls).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum FinishReason {
    /// It has said everything.
    Stop,
    /// It has reached the greatest length allowed.
    Length,
    /// It waits for tools.
    ToolCalls,
    /// The provider cut it off because of what it said.
    ContentFilter,
    /// What the provider says, where that is none of these.
    Other(String),
}

impl FinishReason {
    /// Its name.
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
