//! What is stored of an error of a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ModelError, ModelErrorKind};
use crate::budget::CallCost;

/// What is stored of a [`ModelError`]: what retries, fallbacks and budgets ask it. The causes of the error are not kept.
///
/// An error that is made of it says how long the provider asked to wait, and no policy waits for it again.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ModelError, ModelErrorKind, ModelFailure};
///
/// let error = ModelError::new(ModelErrorKind::Timeout, "no answer");
/// let stored = serde_json::to_string(&ModelFailure::of(&error))?;
/// let failure: ModelFailure = serde_json::from_str(&stored)?;
/// let again = ModelError::from(failure);
/// assert_eq!((again.kind(), again.to_string()), (error.kind(), error.to_string()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFailure {
    kind: ModelErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<CallCost>,
}

impl ModelFailure {
    /// Returns what is stored of `error`.
    pub fn of(error: &ModelError) -> Self {
        Self {
            kind: error.kind().clone(),
            message: error.to_string(),
            retry_after: error.retry_after(),
            cost: error.cost().cloned(),
        }
    }
}

impl From<ModelFailure> for ModelError {
    fn from(failure: ModelFailure) -> Self {
        let error = Self::new(failure.kind, failure.message).with_cost(failure.cost);
        let error = match failure.retry_after {
            Some(wait) => error.with_retry_after(wait),
            None => error,
        };
        error.stored()
    }
}
