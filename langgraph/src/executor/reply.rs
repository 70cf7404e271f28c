//! The result of a remote task.

use serde::{Deserialize, Serialize};

use crate::error::{Interrupted, NodeError, TaskFailure};
use crate::interrupt::Interrupts;
use crate::node::{Context, Output};
use crate::state::codec::write_text;
use crate::state::{State, StateCodec};

/// The result of a remote task.
#[derive(Debug, Serialize, Deserialize)]
pub struct TaskReply {
    result: Result<String, TaskFailure>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cached: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    questions: Option<Interrupts>,
    /// Why the answer to its question was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<Interrupted>,
}

impl TaskReply {
    /// Creates the reply of a task that could not run.
    pub fn failed(error: impl Into<NodeError>) -> Self {
        Self {
            result: Err(TaskFailure::of(&error.into())),
            cached: false,
            questions: None,
            refused: None,
        }
    }

    /// Returns how the task failed; `None` if it has ended well, or asks.
    pub fn failure(&self) -> Option<&TaskFailure> {
        let failure = self.result.as_ref().err();
        failure.filter(|_| self.questions.is_none())
    }

    /// Creates the reply of a task that has run.
    pub(super) fn new<S: State>(
        cx: &Context,
        codec: StateCodec<S>,
        result: Result<Output<S>, NodeError>,
    ) -> Self {
        let text = result.and_then(|output| Ok(write_text(&output.to_wire(codec)?)?));
        let refused = cx.take_refused();
        Self {
            result: text.map_err(|error| TaskFailure::of(&error)),
            cached: cx.is_from_cache(),
            questions: cx.take_questions(),
            refused: refused.and_then(|error| error.downcast_ref().cloned()),
        }
    }

    /// Ends the task in the driver as it ended in the worker.
    pub(super) fn take<S: State>(
        self,
        cx: &Context,
        codec: StateCodec<S>,
        initial: &S,
    ) -> Result<Output<S>, NodeError> {
        for answer in cx.answers() {
            cx.scope().shared.answer_taken(&answer.key);
        }
        if self.cached {
            cx.answer_from_cache();
        }
        if let Some(questions) = self.questions {
            cx.ask(questions, self.refused.map(NodeError::from));
        }
        let read = codec.read_text(&self.result.map_err(NodeError::from)?)?;
        Ok(Output::from_wire(read, initial, &|name| name)?)
    }
}
