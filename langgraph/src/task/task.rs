//! The tasks of a superstep.

use super::{Finished, TaskResult};
use crate::checkpoint::OnceRecord;
use crate::graph::plan::Plan;
use crate::interrupt::Answer;
use crate::node::{Argument, Call, Context, NodeId, Output};
use crate::state::{State, WrittenFields};

/// A task of a superstep: a node, its argument, and its memory of earlier runs.
pub(crate) struct Task<S: State> {
    pub(crate) node: NodeId,
    /// The argument of a send; tasks started by edges have none.
    pub(crate) argument: Option<Argument<S>>,
    /// The memory of earlier runs. Most tasks have none, and stay small.
    memory: Option<Box<TaskMemory<S>>>,
}

/// A task's memory of earlier runs.
pub(crate) struct TaskMemory<S: State> {
    /// Routed to its earlier interrupts.
    pub(crate) answers: Vec<Answer>,
    /// The results of its `once` work.
    pub(crate) once: Vec<OnceRecord>,
    /// Its result of an earlier run; it does not run again.
    pub(crate) result: Option<TaskResult<S>>,
    /// The node's result of an earlier run whose routers interrupted: only they run again.
    pub(crate) ran: Option<Finished<S>>,
}

impl_default!([S: State] TaskMemory<S> { answers, once, result, ran });

impl<S: State> Task<S> {
    pub(crate) const fn by_edge(node: NodeId) -> Self {
        Self {
            node,
            argument: None,
            memory: None,
        }
    }

    pub(crate) const fn sent(node: NodeId, argument: Argument<S>) -> Self {
        Self {
            node,
            argument: Some(argument),
            memory: None,
        }
    }

    /// Creates the task of START, which already has its result, the input.
    pub(crate) fn start(input: Output<S>) -> Self {
        let memory = TaskMemory {
            result: Some(TaskResult::Finished(Finished::new(input))),
            ..TaskMemory::default()
        };
        Self {
            memory: Some(Box::new(memory)),
            ..Self::by_edge(NodeId::START)
        }
    }

    /// Adds the memory of earlier runs.
    pub(crate) fn with_memory(mut self, memory: TaskMemory<S>) -> Self {
        let TaskMemory {
            answers,
            once,
            result,
            ran,
        } = &memory;
        let known = !answers.is_empty() || !once.is_empty() || result.is_some() || ran.is_some();
        self.memory = known.then(|| Box::new(memory));
        self
    }

    /// Returns true for a task without memory and without a send's argument.
    pub(crate) const fn is_plain(&self) -> bool {
        self.argument.is_none() && self.memory.is_none()
    }

    /// Returns true for a task of a map: one of those that a node runs as, one for each item.
    pub(crate) fn is_item_of(&self, plan: &Plan<S>) -> bool {
        matches!(self.argument, Some(Argument::Item(_))) && plan.is_mapped(self.node)
    }

    /// Returns true if an earlier run has left nothing of it.
    pub(crate) const fn is_new(&self) -> bool {
        self.memory.is_none()
    }

    pub(crate) fn answers(&self) -> &[Answer] {
        self.memory.as_ref().map_or(&[], |memory| &memory.answers)
    }

    pub(crate) fn once(&self) -> &[OnceRecord] {
        self.memory.as_ref().map_or(&[], |memory| &memory.once)
    }

    pub(crate) fn result(&self) -> Option<&TaskResult<S>> {
        self.memory.as_ref()?.result.as_ref()
    }

    pub(crate) fn take_result(&mut self) -> Option<TaskResult<S>> {
        self.memory.as_mut()?.result.take()
    }

    /// Lets the routers of a task with a known result run again.
    pub(crate) fn route_again(&mut self) {
        if let Some(memory) = &mut self.memory {
            match memory.result.take() {
                Some(TaskResult::Finished(done)) => memory.ran = Some(done),
                result => memory.result = result,
            }
        }
    }

    /// Forgets the result of an earlier run, so that the task runs again.
    pub(crate) fn forget_result(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.result = None;
        }
    }

    pub(crate) fn ran(&self) -> Option<&Finished<S>> {
        self.memory.as_ref()?.ran.as_ref()
    }

    /// Returns what its node has done before, if that does not run again.
    pub(crate) fn kept(&self) -> Option<&Finished<S>> {
        match self.result() {
            Some(TaskResult::Finished(done)) => Some(done),
            _ => self.ran(),
        }
    }

    pub(crate) fn add_answer(&mut self, answer: Answer) {
        self.memory.get_or_insert_default().answers.push(answer);
    }

    /// Returns the arguments of its node.
    #[inline]
    pub(crate) fn call<'a>(
        &'a self,
        state: &'a S,
        written: &'a WrittenFields,
        cx: &'a Context,
    ) -> Call<'a, S> {
        let snapshot = Call::of_snapshot(state, written, cx);
        match &self.argument {
            None => snapshot,
            Some(Argument::Item(item)) => Call {
                item: Some(&**item),
                ..snapshot
            },
            Some(Argument::State(sent)) => Call {
                state: &**sent,
                written: None,
                ..snapshot
            },
        }
    }
}
