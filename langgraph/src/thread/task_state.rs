//! What has become of the tasks of a checkpoint.

use crate::checkpoint::{
    InnerSnapshot, Stored, TaskArgument, TaskFold, TaskOutcome, TaskSpec, fold_tasks,
};
use crate::error::AgentError;
use crate::graph::{NodeName, START};
use crate::node::{Answer, Argument, OnceRecord, Questions};
use crate::state::State;
use crate::superstep::Finished;
use crate::superstep::log::Reader;

/// What has become of a task.
pub(crate) struct TaskState<S: State> {
    pub(super) node: NodeName,
    pub(super) argument: Option<Argument<S>>,
    /// A command from outside started it beside the tasks of the checkpoint.
    pub(super) joined_in: bool,
    pub(super) outcome: Option<Outcome<S>>,
    pub(super) answers: Vec<Answer>,
    pub(super) once: Vec<OnceRecord>,
    /// What it asked last, answered or not.
    pub(super) asked: Option<Questions>,
    /// START's routers failed; the input that it has taken up is kept all the same.
    pub(super) routing_error: Option<String>,
    /// What the node did, when it is its routers that have asked.
    pub(super) ran: Option<Finished<S>>,
    /// The graph that its node is, when it has been looked at.
    pub(super) inside: Option<InnerSnapshot>,
}

pub(crate) enum Outcome<S: State> {
    Finished(Finished<S>),
    Asked(Questions),
    Failed(String),
}

/// The tasks of a checkpoint, with those that joined in, as their records leave them.
pub(super) fn task_states<S: State>(
    reader: &Reader<'_, S>,
    stored: &Stored,
) -> Result<Vec<TaskState<S>>, AgentError> {
    let own = stored.checkpoint.tasks.iter().map(|spec| (spec, false));
    let joined_in = stored.entries.iter().flat_map(|entry| &entry.tasks);
    let specs = own.chain(joined_in.map(|spec| (spec, true)));
    let folded = fold_tasks(stored).into_iter();
    let folded = folded.chain(std::iter::repeat_with(TaskFold::default));
    let states = specs.zip(folded);
    states
        .map(|((spec, joined_in), folded)| TaskState::read(reader, spec, joined_in, folded))
        .collect()
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
        let outcome = match folded.outcome {
            Some(TaskOutcome::Finished(done)) => Some(Outcome::Finished(reader.done(done)?)),
            Some(TaskOutcome::Asked(asked)) => Some(Outcome::Asked(asked.0.clone())),
            Some(TaskOutcome::Failed(text)) => Some(Outcome::Failed(text.clone())),
            Some(TaskOutcome::Ran(_)) | None => None,
        };
        Ok(Self {
            node: reader.plan.renamed(&spec.node),
            argument,
            joined_in,
            outcome,
            answers: folded.answers.into_iter().cloned().collect(),
            once: folded.once.into_iter().cloned().collect(),
            asked: folded.asked.cloned(),
            routing_error: folded.routing_error.map(str::to_owned),
            ran: folded.ran.map(|done| reader.done(done)).transpose()?,
            inside: None,
        })
    }

    /// Runs again as if it had never run. START, which has no code, keeps its input.
    pub(super) fn forget(&mut self) {
        if &*self.node != START {
            self.outcome = None;
            self.ran = None;
        } else if let Some(input) = self.ran.take() {
            self.outcome = Some(Outcome::Finished(input));
        }
        self.routing_error = None;
        self.answers.clear();
        self.once.clear();
        self.asked = None;
    }

    pub(super) fn is_finished(&self) -> bool {
        self.routing_error.is_none() && matches!(self.outcome, Some(Outcome::Finished(_)))
    }
}
