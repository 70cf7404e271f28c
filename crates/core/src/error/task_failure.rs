//! Errors of tasks that ran in another process.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{NodeError, is_transient};

/// The error of a task that ran in another process: the texts of its chain of errors.
#[derive(Clone, Serialize, Deserialize)]
pub struct TaskFailure {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Box<TaskFailure>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    transient: bool,
}

impl TaskFailure {
    /// Returns the texts of an error.
    pub fn of(error: &NodeError) -> Self {
        Self {
            transient: is_transient(error),
            ..Self::texts(error.source())
        }
    }

    fn texts(error: &(dyn Error + 'static)) -> Self {
        Self {
            text: error.to_string(),
            source: error.source().map(|source| Box::new(Self::texts(source))),
            transient: false,
        }
    }

    /// Returns true if the error was [transient](is_transient).
    pub fn is_transient(&self) -> bool {
        self.transient
    }
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for TaskFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

crate::debug_is_message!(TaskFailure);
