//! Replays the records of a log into states.

use std::sync::Arc;

use langgraph_core::message::Reading;

use super::loaded::Loaded;
use super::task_state::{TaskState, task_states};
use crate::checkpoint::{Head, Payload, Source, StatePart, Stored, TaskSpec};
use crate::error::AgentError;
use crate::graph::START;
use crate::graph::plan::Plan;
use crate::record::Reader;
use crate::state::{State, TrackedState, Write, Writes, WrittenFields};
use crate::superstep::Commit;
use crate::task::{Changes, TaskResult, Writer};

mod known_ids;

use known_ids::KnownIds;

/// Folds the records of a log into states, one after the other.
pub(crate) struct Replay<'a, S: State> {
    reader: Reader<'a, S>,
    state: Arc<S>,
    written: WrittenFields,
    known: KnownIds,
    /// True if the previous record begins a call: its input comes from the caller. An input that
    /// came from outside in the meantime does not count.
    begins: bool,
}

impl<'a, S: State> Replay<'a, S> {
    pub(crate) fn new(reader: Reader<'a, S>, initial: &TrackedState<S>) -> Self {
        let mut known = KnownIds::default();
        if reader.formats.is_some() {
            known.add_state(&*initial.state);
        }
        Self {
            reader,
            state: Arc::clone(&initial.state),
            written: initial.written.clone(),
            known,
            begins: false,
        }
    }

    /// Adds the next part of the state.
    pub(crate) fn part(&mut self, part: &StatePart) -> Result<(), AgentError> {
        // The author of the writes matters only if they conflict, and then the whole log is read.
        let someone = Writer::External;
        match part {
            StatePart::Snapshot(state) => self.snapshot(state)?,
            StatePart::Entry(writes) => self.entry(writes, None)?,
            StatePart::Task(written) => {
                let reading = Reading::begin();
                let writes = self.reader.written(written)?;
                let right = self.ids_are_new(reading, [&*writes]);
                let writes = if right { writes } else { writes.clone() };
                self.commit(None).one(someone, writes)?;
            }
            StatePart::Tasks(written) => {
                let reading = Reading::begin();
                let writes = written
                    .iter()
                    .map(|written| Ok((someone, self.reader.written(written)?)));
                let writes = writes.collect::<Result<Vec<_>, AgentError>>()?;
                let slices = writes.iter().map(|(_, writes)| &**writes);
                let right = self.ids_are_new(reading, slices);
                let writes = if right { writes } else { writes.clone() };
                self.commit(None).superstep(writes)?;
            }
        }
        Ok(())
    }

    /// Adds the checkpoint's own records and those from outside.
    pub(crate) fn own(&mut self, stored: &Stored) -> Result<(), AgentError> {
        if let Some(snapshot) = &stored.checkpoint.snapshot {
            self.snapshot(snapshot)?;
        }
        self.entries(stored, None)?;
        Ok(())
    }

    /// Computes the state of a checkpoint without its entries from outside.
    pub(crate) fn before_entries(
        &mut self,
        before: Option<&Stored>,
        stored: &Stored,
        mut changes: Option<&mut Changes<S>>,
    ) -> Result<(), AgentError> {
        let began = self.begins;
        self.begins = match before.map(|before| &before.checkpoint) {
            Some(before) if before.call == stored.checkpoint.call => {
                began && stored.checkpoint.source == Source::Fork
            }
            _ => true,
        };
        if let Some(snapshot) = &stored.checkpoint.snapshot {
            self.snapshot(snapshot)?;
        } else if let (Some(base), Some(before)) = (stored.checkpoint.base, before)
            && base.with_tasks
        {
            let reading = Reading::begin();
            let tasks = task_states(&self.reader, before)?;
            let writes = into_finished(self.reader.plan, tasks, before.merge_order());
            let slices = writes.iter().map(|(_, writes)| &**writes);
            let right = self.ids_are_new(reading, slices);
            let writes = if right { writes } else { writes.clone() };
            let inside = !self.reader.key.namespace.is_empty();
            let mut commit = self.commit(changes.as_deref_mut());
            if before.checkpoint.step < 0 && inside {
                // A subgraph starts with the parent's ephemeral values.
                for (node, writes) in writes {
                    commit.entry(node, writes)?;
                }
            } else {
                commit.superstep(writes)?;
            }
            let starts = |task: &TaskSpec| &*task.node == START;
            if let Some(changes) = changes
                && began
                && before.checkpoint.tasks.iter().any(starts)
            {
                // The input comes from the caller, so it is not a change of this graph.
                *changes = Changes::default();
            }
        } else if ends_superstep(before, stored) {
            let ephemeral = &self.reader.plan.fields.ephemeral;
            if !ephemeral.is_empty() {
                Arc::make_mut(&mut self.state).reset(ephemeral);
                self.written.remove(ephemeral);
            }
        }
        Ok(())
    }

    /// Adds the entries of a checkpoint, after [`before_entries`](Self::before_entries).
    pub(crate) fn entries(
        &mut self,
        stored: &Stored,
        mut changes: Option<&mut Changes<S>>,
    ) -> Result<(), AgentError> {
        for entry in &stored.entries {
            self.entry(&entry.writes, changes.as_deref_mut())?;
        }
        Ok(())
    }

    /// Returns the state. What is never stored counts as not written.
    pub(crate) fn tracked_state(&self) -> TrackedState<S> {
        let mut written = self.written.clone();
        written.remove(&self.reader.plan.fields.untracked);
        TrackedState {
            state: Arc::clone(&self.state),
            written,
        }
    }

    pub(crate) fn loaded(&self, head: Head, stored: Stored) -> Result<Loaded<S>, AgentError> {
        let TrackedState { state, written } = self.tracked_state();
        Ok(Loaded {
            state,
            written,
            tasks: task_states(&self.reader, &stored)?,
            stored,
            head,
            owner: None,
            changes: None,
        })
    }

    fn commit<'c>(&'c mut self, changes: Option<&'c mut Changes<S>>) -> Commit<'c, S> {
        Commit {
            plan: self.reader.plan,
            state: &mut self.state,
            written: Some(&mut self.written),
            changes,
            observed: false,
        }
    }

    fn snapshot(&mut self, snapshot: &Payload) -> Result<(), AgentError> {
        // The state is cloned when it changes, if the saver keeps it as a value.
        let TrackedState { state, written } = self.reader.state_seen(snapshot, |update| {
            self.known.add_update::<S>(update);
        })?;
        self.state = state;
        self.written = written;
        Ok(())
    }

    /// Applies an entry from outside.
    fn entry(
        &mut self,
        writes: &Payload,
        changes: Option<&mut Changes<S>>,
    ) -> Result<(), AgentError> {
        let outside = Writer::External;
        let reading = Reading::begin();
        let writes = self.reader.writes(writes)?;
        let right = self.ids_are_new(reading, [&*writes]);
        let writes = if right { writes } else { writes.clone() };
        let mut commit = self.commit(changes);
        for write in writes {
            commit.apply(outside, write)?;
        }
        Ok(())
    }

    /// Returns false if a fresh id of these writes is not new; a clone has no fresh ids.
    fn ids_are_new<'w>(
        &mut self,
        reading: Reading,
        writes: impl IntoIterator<Item = &'w [Write<S>]>,
    ) -> bool {
        self.reader.formats.is_none() || self.known.are_new(reading.end(), writes)
    }
}

/// An update from outside is a superstep, and a new input ends the superstep that it drops. An input that was merged
/// into an active run drops nothing.
fn ends_superstep(before: Option<&Stored>, stored: &Stored) -> bool {
    let begins = |tasks: &[TaskSpec]| matches!(tasks, [task] if &*task.node == START);
    match stored.checkpoint.source {
        Source::Update => true,
        Source::Input => {
            let drops = before.is_some_and(|before| !before.checkpoint.tasks.is_empty());
            drops && begins(&stored.checkpoint.tasks)
        }
        _ => false,
    }
}

/// Takes the writes of finished tasks, in order.
fn into_finished<S: State>(
    plan: &Plan<S>,
    tasks: Vec<TaskState<S>>,
    order: impl Iterator<Item = usize>,
) -> Vec<(Writer, Writes<S>)> {
    let writes = |task: TaskState<S>| match (task.result, task.ran) {
        (Some(TaskResult::Finished(done)), _) | (_, Some(done)) => Some((
            plan.stored_node(&task.node)
                .map_or(Writer::External, Writer::from),
            done.output.writes,
        )),
        _ => None,
    };
    let mut tasks: Vec<_> = tasks.into_iter().map(Some).collect();
    let in_order = order.filter_map(|task| tasks.get_mut(task)?.take());
    in_order.filter_map(writes).collect()
}
