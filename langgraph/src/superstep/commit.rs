//! Commits the writes of a superstep.
//!
//! It detects conflicts before it merges anything, from the sets of written fields. Then it applies
//! the writes in task order. Live runs and the replay of a thread use the same code.

use std::sync::Arc;

use crate::error::InvalidUpdate;
use crate::graph::plan::Plan;
use crate::state::{FieldSet, State, Write, Writes, WrittenFields};
use crate::task::{Changes, Footprint, Position, Writer, merge, overwritten};

/// What the merge of a superstep's writes has done.
#[derive(Clone, Copy, Default)]
pub(super) struct Merged {
    /// True if a field was written.
    pub(super) wrote: bool,
    /// True if tasks wait for answers.
    pub(super) waits: bool,
}

/// A state that receives writes.
pub(crate) struct Commit<'a, S: State> {
    pub(crate) plan: &'a Plan<S>,
    pub(crate) state: &'a mut Arc<S>,
    /// The fields of the state that were written, if it matters.
    pub(crate) written: Option<&'a mut WrittenFields>,
    /// Records the writes, for the parent of a subgraph.
    pub(crate) changes: Option<&'a mut Changes<S>>,
    /// True if it matters whether a field was written.
    pub(crate) observed: bool,
}

impl<S: State> Commit<'_, S> {
    /// Returns the state with the writes of a superstep's tasks, which may not be its next state;
    /// `None` if they conflict.
    pub(crate) fn on_copy(
        position: &Position<S>,
        writes: Vec<(Writer, Writes<S>)>,
    ) -> Option<Arc<S>> {
        let mut state = Arc::clone(&position.state);
        let mut commit = Commit {
            plan: &position.plan,
            state: &mut state,
            written: None,
            changes: None,
            observed: false,
        };
        commit.superstep(writes).ok()?;
        Some(state)
    }

    /// Applies the writes of a superstep's only task. Returns true if there were any.
    #[inline]
    pub(crate) fn one(&mut self, writer: Writer, writes: Writes<S>) -> Result<bool, InvalidUpdate> {
        self.clear_ephemeral();
        self.entry(writer, writes)
    }

    /// Applies writes to the current state, without clearing ephemeral fields.
    #[inline]
    pub(crate) fn entry(
        &mut self,
        writer: Writer,
        writes: Writes<S>,
    ) -> Result<bool, InvalidUpdate> {
        match writes {
            Writes::None => Ok(false),
            Writes::One(write) => self.apply(writer, write),
            Writes::Many(writes) => writes
                .into_iter()
                .try_fold(false, |wrote, write| Ok(wrote | self.apply(writer, write)?)),
        }
    }

    /// Applies the writes of several writers, in order.
    fn entries(&mut self, done: Vec<(Writer, Writes<S>)>) -> Result<bool, InvalidUpdate> {
        let each = |wrote, (writer, writes)| Ok(wrote | self.entry(writer, writes)?);
        done.into_iter().try_fold(false, each)
    }

    /// Applies the writes of a superstep's tasks, in order. Returns true if there were any.
    pub(crate) fn superstep(
        &mut self,
        mut done: Vec<(Writer, Writes<S>)>,
    ) -> Result<bool, InvalidUpdate> {
        if done.len() == 1
            && let Some((writer, writes)) = done.pop()
        {
            return self.one(writer, writes);
        }
        if self.are_plainly_apart(&done) {
            self.clear_ephemeral();
            return self.entries(done);
        }
        let tasks = done.iter();
        let footprints: Vec<_> = tasks
            .map(|(writer, writes)| self.footprint(*writer, writes))
            .collect();
        let name = |task: &Footprint| task.writer.name(self.plan);
        let field = |index: usize| {
            let field = self.state.fields().get(index);
            field.map_or_else(|| index.to_string(), |field| field.name().to_owned())
        };
        let overwritten = overwritten(&footprints, &self.plan.fields.reduced, &name, &field)?;
        if !overwritten.is_empty() {
            for ((_, writes), footprint) in done.iter_mut().zip(&footprints) {
                // Another task overwrites these fields, so this task's writes to them do not count.
                let mut lost = overwritten.clone();
                lost.remove_all(&footprint.overwritten);
                for write in writes.as_mut_slice() {
                    if let Write::Update(update) = write {
                        self.state.discard(update, &lost);
                    }
                }
            }
        }
        self.clear_ephemeral();
        self.entries(done)
    }

    /// Applies one write. Returns true if it held a field.
    #[inline]
    pub(crate) fn apply(&mut self, writer: Writer, write: Write<S>) -> Result<bool, InvalidUpdate> {
        let wrote = self.note_fields(&write);
        if let Some(changes) = &mut self.changes {
            // The clone goes to the log: the original may have fresh ids, which make merging cheap.
            changes.writes.push(write.clone());
        }
        // Unique after the barrier; a reader of the event stream may still hold the last state.
        let state = Arc::make_mut(self.state);
        match write {
            Write::Update(update) => merge(self.plan, writer, state, update)?,
            Write::Overwrite(update) => state.overwrite(update),
            Write::State(whole) => *state = *whole,
        }
        Ok(wrote)
    }

    /// Notes the fields of a write. Returns true if there are any, or if it does not matter.
    #[inline]
    fn note_fields(&mut self, write: &Write<S>) -> bool {
        if !self.observed && self.written.is_none() {
            return true;
        }
        let fields = match write.update() {
            Some(update) => self.state.written(update),
            None => FieldSet::first(self.state.fields().len()),
        };
        if let Some(written) = &mut self.written {
            written.add(&fields);
        }
        write.update().is_none() || !fields.is_empty()
    }

    /// Resets ephemeral fields, which live for one superstep, before new writes to them.
    fn clear_ephemeral(&mut self) {
        if !self.plan.fields.ephemeral.is_empty() {
            let state = Arc::make_mut(self.state);
            let (written, changes) = (self.written.as_deref_mut(), self.changes.as_deref_mut());
            clear_ephemeral(self.plan, state, written, changes);
        }
    }

    /// Returns true if all writes are updates, and no two write a field without a reducer. This
    /// check does not record which node wrote what.
    fn are_plainly_apart(&self, done: &[(Writer, Writes<S>)]) -> bool {
        let mut written = FieldSet::new();
        for (writer, writes) in done {
            if !writer.conflicts() {
                continue;
            }
            for write in writes.iter() {
                let Write::Update(update) = write else {
                    return false;
                };
                let mut fields = self.state.written(update);
                fields.remove_all(&self.plan.fields.reduced);
                if written.meets(&fields) {
                    return false;
                }
                written.union_with(&fields);
            }
        }
        true
    }

    fn footprint(&self, writer: Writer, writes: &Writes<S>) -> Footprint {
        let mut footprint = Footprint {
            writer,
            updated: FieldSet::new(),
            overwritten: FieldSet::new(),
            whole: false,
        };
        for write in writes.iter() {
            match write {
                Write::Update(update) => footprint.updated.union_with(&self.state.written(update)),
                Write::Overwrite(update) => footprint
                    .overwritten
                    .union_with(&self.state.written(update)),
                Write::State(_) => footprint.whole = true,
            }
        }
        footprint
    }
}

/// Resets the ephemeral fields of a state, and in the records of its writes.
#[inline]
pub(super) fn clear_ephemeral<S: State>(
    plan: &Plan<S>,
    state: &mut S,
    written: Option<&mut WrittenFields>,
    changes: Option<&mut Changes<S>>,
) {
    let ephemeral = &plan.fields.ephemeral;
    if ephemeral.is_empty() {
        return;
    }
    state.reset(ephemeral);
    if let Some(changes) = changes {
        changes.forget(state, ephemeral);
    }
    if let Some(written) = written {
        written.remove(ephemeral);
    }
}
