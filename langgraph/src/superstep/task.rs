//! The tasks of a superstep.

use super::task_result::{Finished, TaskResult};
use crate::node::{Answer, Argument, Call, Context, NodeId, OnceRecord, Output};
use crate::state::State;

/// A task of a superstep: a node, what it is given, and what is known of it.
pub(crate) struct Task<S: State> {
    pub(crate) node: NodeId,
    /// What a send gave it; tasks started by edges have none.
    pub(crate) argument: Option<Argument<S>>,
    /// What is known of it from earlier runs. Most tasks have no past, and are small.
    past: Option<Box<Past<S>>>,
}

/// What is known of a task from earlier runs.
pub(crate) struct Past<S: State> {
    /// Answers to what it asked before.
    pub(crate) answers: Vec<Answer>,
    /// What it has done once.
    pub(crate) once: Vec<OnceRecord>,
    /// How it ended in an earlier run; it does not run again.
    pub(crate) result: Option<TaskResult<S>>,
    /// What its node did in an earlier run, when its routers had a question: only they are asked.
    pub(crate) ran: Option<Finished<S>>,
}

impl<S: State> Default for Past<S> {
    fn default() -> Self {
        Self {
            answers: Vec::new(),
            once: Vec::new(),
            result: None,
            ran: None,
        }
    }
}

impl<S: State> Task<S> {
    pub(crate) const fn by_edge(node: NodeId) -> Self {
        Self {
            node,
            argument: None,
            past: None,
        }
    }

    pub(crate) const fn sent(node: NodeId, argument: Argument<S>) -> Self {
        Self {
            node,
            argument: Some(argument),
            past: None,
        }
    }

    /// The task of START. It comes with its result, the input.
    pub(crate) fn start(input: Output<S>) -> Self {
        Self::by_edge(NodeId::START).with_past(Past {
            result: Some(TaskResult::Finished(Finished::new(input))),
            ..Past::default()
        })
    }

    /// The same task with what is known of it.
    pub(crate) fn with_past(mut self, past: Past<S>) -> Self {
        let Past {
            answers,
            once,
            result,
            ran,
        } = &past;
        let known = !answers.is_empty() || !once.is_empty() || result.is_some() || ran.is_some();
        self.past = known.then(|| Box::new(past));
        self
    }

    /// True when nothing is known of it and no send has started it.
    pub(crate) const fn is_plain(&self) -> bool {
        self.argument.is_none() && self.past.is_none()
    }

    pub(crate) fn answers(&self) -> &[Answer] {
        self.past.as_ref().map_or(&[], |past| &past.answers)
    }

    pub(crate) fn once(&self) -> &[OnceRecord] {
        self.past.as_ref().map_or(&[], |past| &past.once)
    }

    pub(crate) fn result(&self) -> Option<&TaskResult<S>> {
        self.past.as_ref()?.result.as_ref()
    }

    pub(crate) fn take_result(&mut self) -> Option<TaskResult<S>> {
        self.past.as_mut()?.result.take()
    }

    pub(crate) fn ran(&self) -> Option<&Finished<S>> {
        self.past.as_ref()?.ran.as_ref()
    }

    pub(crate) fn add_answer(&mut self, answer: Answer) {
        self.past.get_or_insert_default().answers.push(answer);
    }

    /// What its node is started with.
    pub(crate) fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> Call<'a, S> {
        let (state, item) = match &self.argument {
            None => (state, None),
            Some(Argument::Item(item)) => (state, Some(&**item)),
            Some(Argument::State(sent)) => (&**sent, None),
        };
        Call { state, item, cx }
    }
}
