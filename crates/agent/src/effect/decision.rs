//! The answer to the question about an unknown outcome.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A person's decision about an [`Effect`](crate::Effect) of unknown outcome: the answer to an
/// [`EffectRequest`](crate::EffectRequest).
///
/// # Wire form
///
/// `{"type": "run_again"}`, `{"type": "done", "result": ..}`, `{"type": "fail"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EffectDecision {
    /// The work has not happened: it runs.
    RunAgain,
    /// The work has happened, with this result.
    Done {
        /// The result.
        #[serde(default)]
        result: Value,
    },
    /// The task fails.
    Fail,
}

impl EffectDecision {
    /// The work has happened, with this result.
    pub fn done(result: impl Into<Value>) -> Self {
        Self::Done {
            result: result.into(),
        }
    }

    /// Refuses a result that the work could not have.
    pub(super) fn check<T: DeserializeOwned>(self) -> Result<Self, String> {
        if let Self::Done { result } = &self {
            T::deserialize(result).map_err(|error| format!("it is not a result: {error}"))?;
        }
        Ok(self)
    }
}
