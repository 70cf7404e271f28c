//! The error that ends a task until its interrupt is answered.

use serde::{Deserialize, Serialize};

use super::FormatError;

/// Ends the task until its interrupt is answered.
///
/// Return it with `?`; an error type of your own takes it with `#[from]`. The runtime recognises
/// the pause by the open interrupt, not by this value, so wrapping it is harmless.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Interrupted {
    key: String,
    text: String,
    refused: bool,
}

impl Interrupted {
    /// A question without an answer yet.
    pub fn waiting(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            text: format!("waiting for the answer to `{key}`"),
            refused: false,
        }
    }

    /// An answer that the node refused.
    pub fn bad_answer(key: &str, why: &str) -> Self {
        Self {
            key: key.to_owned(),
            text: format!("the answer to `{key}` {why}"),
            refused: true,
        }
    }

    /// A question that is not JSON.
    pub fn bad_question(key: &str, error: &FormatError) -> Self {
        Self {
            key: key.to_owned(),
            text: format!("the question `{key}` cannot be written as JSON: {error}"),
            refused: false,
        }
    }

    /// An interrupt that cannot be answered, because nothing stores it.
    pub fn without_thread(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            text: format!(
                "the question `{key}` can never be answered: the graph has no checkpointer, so nothing waits for the answer; add one with `.checkpointer(..)`, and name the thread"
            ),
            refused: false,
        }
    }

    /// Returns the key of the interrupt.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns true if an answer was refused; the interrupt stays open.
    pub fn is_refused(&self) -> bool {
        self.refused
    }
}

crate::debug_is_message!(Interrupted);
