//! The tasks of a superstep.

use super::ended::{Done, Ended};
use crate::node::{Answer, Argument, OnceRecord};
use crate::state::State;

/// A task of the next superstep.
pub(super) struct Task<S: State> {
    pub(super) node: usize,
    /// What a send gave it; tasks started by edges have none.
    pub(super) argument: Option<Argument<S>>,
    /// Answers to what it asked before.
    pub(super) answers: Vec<Answer>,
    /// What it has done once.
    pub(super) once: Vec<OnceRecord>,
    /// How it ended in an earlier run; it does not run again.
    pub(super) prior: Option<Box<Ended<S>>>,
    /// What its node did in an earlier run, when its routers had a question: only they are asked.
    pub(super) ran: Option<Box<Done<S>>>,
}

impl<S: State> Task<S> {
    pub(super) const fn by_edge(node: usize) -> Self {
        Self {
            node,
            argument: None,
            answers: Vec::new(),
            once: Vec::new(),
            prior: None,
            ran: None,
        }
    }

    pub(super) const fn sent(node: usize, argument: Argument<S>) -> Self {
        Self {
            node,
            argument: Some(argument),
            answers: Vec::new(),
            once: Vec::new(),
            prior: None,
            ran: None,
        }
    }

    /// The same task, to run once more.
    pub(super) fn again(&self) -> Self {
        Self {
            node: self.node,
            argument: self.argument.clone(),
            answers: self.answers.clone(),
            once: self.once.clone(),
            prior: None,
            ran: self.ran.clone(),
        }
    }
}
