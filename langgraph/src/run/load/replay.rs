//! Making states of the records of a log.

use std::sync::Arc;

use super::Loaded;
use super::tasks::{Outcome, TaskState, task_states};
use crate::AgentError;
use crate::checkpoint::{Head, Source, Stored, TaskSpec};
use crate::graph::START;
use crate::graph::plan::Plan;
use crate::message::Reading;
use crate::node::Writes;
use crate::run::coder::Reader;
use crate::run::commit::{Changes, Commit};
use crate::run::known::KnownIds;
use crate::state::State;

/// Makes states of the records of a log, one after the other.
pub(in crate::run) struct Replay<'a, S: State> {
    reader: Reader<'a, S>,
    state: Arc<S>,
    known: KnownIds,
    /// True when the record before begins a call: the input of that is the caller's. One that came
    /// from outside meanwhile is not.
    begins: bool,
}

impl<'a, S: State> Replay<'a, S> {
    pub(in crate::run) fn new(reader: Reader<'a, S>, initial: &Arc<S>) -> Self {
        let mut known = KnownIds::default();
        if reader.formats.is_some() {
            known.add_state(&**initial);
        }
        Self {
            reader,
            state: Arc::clone(initial),
            known,
            begins: false,
        }
    }

    /// The state of a checkpoint without what was written to it from outside.
    pub(in crate::run) fn before_entries(
        &mut self,
        before: Option<&Stored>,
        stored: &Stored,
        mut changes: Option<&mut Changes<S>>,
    ) -> Result<&Arc<S>, AgentError> {
        let plan = self.reader.plan;
        let began = self.begins;
        self.begins = match before.map(|before| &before.checkpoint) {
            Some(before) if before.call == stored.checkpoint.call => {
                began && stored.checkpoint.source == Source::Fork
            }
            _ => true,
        };
        if let Some(snapshot) = &stored.checkpoint.snapshot {
            self.state = Arc::new(S::clone(&*self.reader.state(snapshot)?));
            if self.reader.formats.is_some() {
                self.known.add_state(&*self.state);
            }
        } else if let (Some(base), Some(before)) = (stored.checkpoint.base, before)
            && base.with_tasks
        {
            let reading = Reading::begin();
            let tasks = task_states(&self.reader, before)?;
            let writes = into_finished(plan, tasks);
            let slices = writes.iter().map(|(_, writes)| writes.as_slice());
            let unmark =
                self.reader.formats.is_some() && !self.known.are_new(reading.end(), slices);
            // A copy has no marks.
            let writes = if unmark { writes.clone() } else { writes };
            let mut commit = Commit {
                plan,
                state: &mut self.state,
                changes: changes.as_deref_mut(),
                observed: false,
            };
            if before.checkpoint.step < 0 && !self.reader.key.namespace.is_empty() {
                // A graph inside another starts with what is ephemeral there.
                for (node, writes) in writes {
                    commit.entry(node, writes)?;
                }
            } else {
                commit.all(writes)?;
            }
            let starts = |task: &TaskSpec| &*task.node == START;
            if let Some(changes) = changes
                && began
                && before.checkpoint.tasks.iter().any(starts)
            {
                // The input is the caller's, not a change of this graph.
                *changes = Changes::default();
            }
        }
        Ok(&self.state)
    }

    /// The state of a checkpoint whose [`before_entries`](Self::before_entries) is done.
    pub(in crate::run) fn entries(
        &mut self,
        stored: &Stored,
        mut changes: Option<&mut Changes<S>>,
    ) -> Result<&Arc<S>, AgentError> {
        let plan = self.reader.plan;
        for entry in &stored.entries {
            let mut commit = Commit {
                plan,
                state: &mut self.state,
                changes: changes.as_deref_mut(),
                observed: false,
            };
            let reading = Reading::begin();
            let writes = self.reader.writes(&entry.writes)?;
            let unmark =
                self.reader.formats.is_some() && !self.known.are_new(reading.end(), [&*writes]);
            // A copy has no marks.
            let writes = if unmark { writes.clone() } else { writes };
            for write in writes {
                commit.apply(plan.names.len(), write)?;
            }
        }
        Ok(&self.state)
    }

    pub(in crate::run) fn loaded(
        &self,
        head: Head,
        stored: Stored,
    ) -> Result<Loaded<S>, AgentError> {
        Ok(Loaded {
            state: Arc::clone(&self.state),
            tasks: task_states(&self.reader, &stored)?,
            stored,
            head,
            changes: None,
        })
    }
}

/// What finished tasks wrote, in their order; the tasks are not needed any more.
fn into_finished<S: State>(plan: &Plan<S>, tasks: Vec<TaskState<S>>) -> Vec<(usize, Writes<S>)> {
    let writes = |task: TaskState<S>| match (task.outcome, task.ran) {
        (Some(Outcome::Finished(done)), _) | (_, Some(done)) => Some((
            plan.index_of(&task.node).unwrap_or(plan.names.len()),
            done.output.writes,
        )),
        _ => None,
    };
    tasks.into_iter().filter_map(writes).collect()
}
