//! How tasks end.

use crate::graph::plan::Routes;
use crate::node::{Context, NodeError, Output, Questions, Write, Writes};
use crate::state::State;

/// How a task ended.
pub(crate) enum Ended<S: State> {
    Finished(Done<S>),
    /// It waits for an answer.
    Asked {
        questions: Questions,
        /// What the node did, when it is its routers that wait: it does not run again.
        ran: Option<Done<S>>,
        /// What is wrong with the answer that it has got.
        refused: Option<NodeError>,
    },
    Failed(NodeError),
}

/// Why a node or a router has no answer yet.
pub(crate) enum Unsettled {
    Asked(Questions, Option<NodeError>),
    Failed(NodeError),
}

impl From<NodeError> for Unsettled {
    fn from(error: NodeError) -> Self {
        Self::Failed(error)
    }
}

impl Unsettled {
    /// How the task ended whose node did `ran`.
    pub(crate) fn ended<S: State>(self, ran: Option<Done<S>>) -> Ended<S> {
        match self {
            Self::Asked(questions, refused) => Ended::Asked {
                questions,
                ran,
                refused,
            },
            Self::Failed(error) => Ended::Failed(error),
        }
    }
}

/// What a task did.
pub(crate) struct Done<S: State> {
    pub(crate) output: Output<S>,
    /// What its routers answered, when they were asked before the commit.
    pub(crate) routes: Vec<Routes<S>>,
    /// True when the node did not run, because its cache had the answer.
    pub(crate) cached: bool,
}

impl<S: State> Done<S> {
    pub(crate) const fn new(output: Output<S>) -> Self {
        Self {
            output,
            routes: Vec::new(),
            cached: false,
        }
    }
}

impl<S: State> Clone for Done<S> {
    fn clone(&self) -> Self {
        Self {
            output: self.output.clone(),
            routes: self.routes.clone(),
            cached: self.cached,
        }
    }
}

/// What a task's answer means, with the questions it has asked.
pub(crate) fn judge<S: State>(
    state: &S,
    cx: &Context,
    result: Result<Output<S>, NodeError>,
) -> Ended<S> {
    match settle(result, cx) {
        Ok(mut output) => {
            prepare(state, &mut output.writes);
            Ended::Finished(Done {
                output,
                routes: Vec::new(),
                cached: cx.is_from_cache(),
            })
        }
        Err(unsettled) => unsettled.ended(None),
    }
}

/// An answer is one only when no question is open.
#[allow(clippy::result_large_err)] // moved once, where a task ends
pub(crate) fn settle<T>(result: Result<T, NodeError>, cx: &Context) -> Result<T, Unsettled> {
    match (result, cx.take_questions()) {
        (Ok(answer), None) => Ok(answer),
        (Ok(_), Some(questions)) => {
            let key = questions.own.map_or_else(
                || "a graph inside".to_owned(),
                |question| format!("`{}`", question.key),
            );
            Err(Unsettled::Failed(NodeError::msg(format!(
                "went on without the answer to {key}; pass the error on with `?`"
            ))))
        }
        (Err(_), Some(questions)) => Err(Unsettled::Asked(questions, cx.take_refused())),
        (Err(error), None) => Err(Unsettled::Failed(error)),
    }
}

/// Fixes whatever is random in writes, before anybody stores or merges them.
pub(crate) fn prepare<S: State>(state: &S, writes: &mut Writes<S>) {
    for write in writes.as_mut_slice() {
        if let Write::Update(update) | Write::Overwrite(update) = write {
            state.prepare(update);
        }
    }
}
