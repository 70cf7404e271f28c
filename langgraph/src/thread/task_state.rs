//! The states of a checkpoint's tasks.

use crate::checkpoint::{
    InnerSnapshot, JoinRecord, OnceRecord, Stored, TaskArgument, TaskFold, TaskOutcome, TaskSpec,
    fold_tasks,
};
use crate::error::{AgentError, NodeError};
use crate::graph::{NodeName, START};
use crate::interrupt::{Answer, Interrupts};
use crate::node::Argument;
use crate::record::Reader;
use crate::state::State;
use crate::task::{Finished, TaskResult};

/// The state of a task.
pub(crate) struct TaskState<S: State> {
    pub(super) node: NodeName,
    pub(super) argument: Option<Argument<S>>,
    /// True if a command from outside started it beside the tasks of the checkpoint.
    pub(super) joined_in: bool,
    /// True for an input that was accepted behind the tasks of the checkpoint.
    pub(super) kept_input: bool,
    pub(super) result: Option<TaskResult<S>>,
    pub(crate) answers: Vec<Answer>,
    pub(super) once: Vec<OnceRecord>,
    /// The joins that its subgraphs have left with some of their sources.
    pub(super) joins: Vec<JoinRecord>,
    /// Its last interrupts, answered or not.
    pub(super) asked: Option<Interrupts>,
    /// The error of START's routers; the input that START has taken is kept.
    pub(super) routing_error: Option<String>,
    /// The node's result, if its routers interrupted.
    pub(super) ran: Option<Finished<S>>,
    /// The snapshot of its subgraph, if it was read.
    pub(super) inside: Option<InnerSnapshot>,
}

/// Returns the states of a checkpoint's tasks, including those that joined in, from their records.
pub(super) fn task_states<S: State>(
    reader: &Reader<'_, S>,
    stored: &Stored,
) -> Result<Vec<TaskState<S>>, AgentError> {
    let mut folded = fold_tasks(stored).into_iter();
    let mut states = Vec::new();
    for (spec, joined_in) in specs(stored) {
        let folded = folded.next().unwrap_or_default();
        let mut task = TaskState::read(reader, spec, joined_in, folded)?;
        // The input that a run begins with is the first task.
        task.kept_input = !states.is_empty() && &*task.node == START;
        states.push(task);
    }
    Ok(states)
}

/// Returns a checkpoint's tasks in their order, and whether each joined in.
pub(super) fn specs(stored: &Stored) -> Vec<(&TaskSpec, bool)> {
    let own = stored.checkpoint.tasks.iter().map(|spec| (spec, false));
    let joined_in = stored.entries.iter().flat_map(|entry| &entry.tasks);
    own.chain(joined_in.map(|spec| (spec, true))).collect()
}

impl<S: State> TaskState<S> {
    fn read(
        reader: &Reader<'_, S>,
        spec: &TaskSpec,
        joined_in: bool,
        folded: TaskFold<'_>,
    ) -> Result<Self, AgentError> {
        let argument = match &spec.argument {
            None => None,
            Some(TaskArgument::Item(item)) => Some(Argument::Item(reader.item(item)?)),
            Some(TaskArgument::State(state)) => Some(Argument::State(reader.state(state)?)),
        };
        let result = match folded.outcome {
            Some(TaskOutcome::Finished(done)) => Some(TaskResult::Finished(reader.done(done)?)),
            Some(TaskOutcome::Interrupted(asked)) => Some(TaskResult::interrupted(asked.clone())),
            Some(TaskOutcome::Failed(text)) => Some(TaskResult::Failed(NodeError::msg(text))),
            Some(TaskOutcome::Ran(_)) | None => None,
        };
        Ok(Self {
            node: reader.plan.renamed(&spec.node),
            argument,
            joined_in,
            kept_input: false,
            result,
            answers: folded.answers.into_iter().cloned().collect(),
            once: folded.once.into_iter().cloned().collect(),
            joins: folded.joins.into_iter().cloned().collect(),
            asked: folded.interrupts.cloned(),
            routing_error: folded.routing_error.map(str::to_owned),
            ran: folded.ran.map(|done| reader.done(done)).transpose()?,
            inside: None,
        })
    }

    /// Resets the task, so that it runs again. START, which has no code, keeps its input.
    pub(crate) fn forget(&mut self) {
        if &*self.node != START {
            self.result = None;
            self.ran = None;
        } else if let Some(input) = self.ran.take() {
            self.result = Some(TaskResult::Finished(input));
        }
        self.routing_error = None;
        self.answers.clear();
        self.once.clear();
        self.joins.clear();
        self.asked = None;
    }

    /// Returns true if a node has run, whatever came of it.
    pub(super) fn has_ended(&self) -> bool {
        &*self.node != START
            && (self.result.is_some() || self.ran.is_some() || self.asked.is_some())
    }

    pub(super) fn is_finished(&self) -> bool {
        self.routing_error.is_none() && matches!(self.result, Some(TaskResult::Finished(_)))
    }
}
