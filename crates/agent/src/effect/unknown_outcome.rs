//! The error of an unknown outcome.

/// It is unknown whether the work of an [`Effect`](crate::Effect) has happened.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is unknown whether `{effect}` has happened: an earlier attempt began it and left no result; look up the idempotency key `{key}` where it would have happened, or let a person decide with `OnUnknown::Ask`"
)]
pub struct UnknownOutcome {
    effect: String,
    key: String,
}

impl UnknownOutcome {
    pub(super) fn new(effect: &str, key: String) -> Self {
        Self {
            effect: effect.to_owned(),
            key,
        }
    }

    /// Returns the name of the effect.
    pub fn effect(&self) -> &str {
        &self.effect
    }

    /// Returns the idempotency key of the work.
    pub fn idempotency_key(&self) -> &str {
        &self.key
    }
}

langgraph::debug_is_message!(UnknownOutcome);
