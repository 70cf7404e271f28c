//! The tasks of a superstep.

use super::ended::{Done, Ended};
use crate::node::{Answer, Argument, Call, Context, OnceRecord};
use crate::state::State;

/// A task of the next superstep.
pub(super) struct Task<S: State> {
    pub(super) node: usize,
    /// What a send gave it; tasks started by edges have none.
    pub(super) argument: Option<Argument<S>>,
    /// What is known of it from earlier runs. Most tasks have no past, and are small.
    past: Option<Box<Past<S>>>,
}

/// What is known of a task from earlier runs.
pub(super) struct Past<S: State> {
    /// Answers to what it asked before.
    pub(super) answers: Vec<Answer>,
    /// What it has done once.
    pub(super) once: Vec<OnceRecord>,
    /// How it ended in an earlier run; it does not run again.
    pub(super) prior: Option<Ended<S>>,
    /// What its node did in an earlier run, when its routers had a question: only they are asked.
    pub(super) ran: Option<Done<S>>,
}

impl<S: State> Default for Past<S> {
    fn default() -> Self {
        Self {
            answers: Vec::new(),
            once: Vec::new(),
            prior: None,
            ran: None,
        }
    }
}

impl<S: State> Task<S> {
    pub(super) const fn by_edge(node: usize) -> Self {
        Self {
            node,
            argument: None,
            past: None,
        }
    }

    pub(super) const fn sent(node: usize, argument: Argument<S>) -> Self {
        Self {
            node,
            argument: Some(argument),
            past: None,
        }
    }

    /// The same task with what is known of it.
    pub(super) fn with_past(mut self, past: Past<S>) -> Self {
        let Past {
            answers,
            once,
            prior,
            ran,
        } = &past;
        let known = !answers.is_empty() || !once.is_empty() || prior.is_some() || ran.is_some();
        self.past = known.then(|| Box::new(past));
        self
    }

    /// True when nothing is known of it and no send has started it.
    pub(super) const fn is_plain(&self) -> bool {
        self.argument.is_none() && self.past.is_none()
    }

    pub(super) fn answers(&self) -> &[Answer] {
        self.past.as_ref().map_or(&[], |past| &past.answers)
    }

    pub(super) fn once(&self) -> &[OnceRecord] {
        self.past.as_ref().map_or(&[], |past| &past.once)
    }

    pub(super) fn prior(&self) -> Option<&Ended<S>> {
        self.past.as_ref()?.prior.as_ref()
    }

    pub(super) fn take_prior(&mut self) -> Option<Ended<S>> {
        self.past.as_mut()?.prior.take()
    }

    pub(super) fn ran(&self) -> Option<&Done<S>> {
        self.past.as_ref()?.ran.as_ref()
    }

    pub(super) fn add_answer(&mut self, answer: Answer) {
        self.past.get_or_insert_default().answers.push(answer);
    }

    /// What its node is started with.
    pub(super) fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> Call<'a, S> {
        let (state, item) = match &self.argument {
            None => (state, None),
            Some(Argument::Item(item)) => (state, Some(&**item)),
            Some(Argument::State(sent)) => (&**sent, None),
        };
        Call { state, item, cx }
    }
}
