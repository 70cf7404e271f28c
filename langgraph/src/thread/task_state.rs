//! What has become of the tasks of a checkpoint.

use crate::AgentError;
use crate::checkpoint::{InnerSnapshot, Stored, TaskArgument, TaskOutcome};
use crate::graph::{NodeName, START};
use crate::node::{Answer, Argument, OnceRecord, Questions};
use crate::state::State;
use crate::superstep::Finished;
use crate::superstep::log::Reader;

/// What has become of a task.
pub(crate) struct TaskState<S: State> {
    pub(crate) node: NodeName,
    pub(crate) argument: Option<Argument<S>>,
    /// A command from outside started it beside the tasks of the checkpoint.
    pub(crate) joined_in: bool,
    pub(crate) outcome: Option<Outcome<S>>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) once: Vec<OnceRecord>,
    /// What it asked last, answered or not.
    pub(crate) asked: Option<Questions>,
    /// START's routers failed; the input that it has taken up is kept all the same.
    pub(crate) lost_way: Option<String>,
    /// What the node did, when it is its routers that have asked.
    pub(crate) ran: Option<Finished<S>>,
    /// The graph that its node is, when it has been looked at.
    pub(crate) inside: Option<InnerSnapshot>,
}

pub(crate) enum Outcome<S: State> {
    Finished(Finished<S>),
    Asked(Questions),
    Failed(String),
}

pub(crate) fn task_states<S: State>(
    reader: &Reader<'_, S>,
    stored: &Stored,
) -> Result<Vec<TaskState<S>>, AgentError> {
    let own = stored.checkpoint.tasks.iter().map(|spec| (spec, false));
    let joined_in = stored.entries.iter().flat_map(|entry| &entry.tasks);
    let mut states = Vec::with_capacity(stored.checkpoint.tasks.len());
    for (spec, joined_in) in own.chain(joined_in.map(|spec| (spec, true))) {
        let argument = match &spec.argument {
            None => None,
            Some(TaskArgument::Item(item)) => Some(Argument::Item(reader.item(item)?)),
            Some(TaskArgument::State(state)) => Some(Argument::State(reader.state(state)?)),
        };
        let node = reader.plan.renamed(&spec.node);
        states.push(TaskState {
            node,
            argument,
            joined_in,
            outcome: None,
            answers: Vec::new(),
            once: Vec::new(),
            asked: None,
            lost_way: None,
            ran: None,
            inside: None,
        });
    }
    for record in &stored.tasks {
        let Some(state) = states.get_mut(record.task) else {
            continue;
        };
        match &record.outcome {
            Some(TaskOutcome::Finished(done)) => {
                state.outcome = Some(Outcome::Finished(reader.done(done)?));
                state.lost_way = None;
                state.ran = None;
            }
            Some(TaskOutcome::Ran(done)) => state.ran = Some(reader.done(done)?),
            Some(TaskOutcome::Asked(questions)) => {
                // START's input is there before its routers are asked.
                if let Some(Outcome::Finished(done)) = state.outcome.take() {
                    state.ran = Some(done);
                }
                state.lost_way = None;
                // Had it been answered, it would not ask.
                let Questions { own, inner, .. } = &questions.0;
                let asks = |key: &String| {
                    own.iter().any(|own| own.key == *key) || inner.iter().any(|i| i.id == *key)
                };
                state.answers.retain(|answer| !asks(&answer.key));
                state.asked = Some(questions.0.clone());
                state.outcome = Some(Outcome::Asked(questions.0.clone()));
            }
            Some(TaskOutcome::Failed(text)) if &*state.node == START => {
                state.lost_way = Some(text.clone());
            }
            Some(TaskOutcome::Failed(text)) => state.outcome = Some(Outcome::Failed(text.clone())),
            None => {}
        }
        state.once.extend_from_slice(&record.once);
        for answer in &record.answers {
            state.answers.retain(|old| old.key != answer.key);
            state.answers.push(answer.clone());
        }
    }
    Ok(states)
}

impl<S: State> TaskState<S> {
    /// Runs again as if it had never run. START, which has no code, keeps its input.
    pub(crate) fn forget(&mut self) {
        if &*self.node != START {
            self.outcome = None;
            self.ran = None;
        } else if let Some(input) = self.ran.take() {
            self.outcome = Some(Outcome::Finished(input));
        }
        self.lost_way = None;
        self.answers.clear();
        self.once.clear();
        self.asked = None;
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.lost_way.is_none() && matches!(self.outcome, Some(Outcome::Finished(_)))
    }
}
