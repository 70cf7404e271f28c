//! Applying what the tasks of a superstep wrote.
//!
//! Conflicts are found before anything is merged, from the sets of written fields; then the writes
//! are applied in task order. A live run and a thread that is read again use the same code.

use std::sync::Arc;

use super::writer::Writer;
use crate::error::InvalidUpdate;
use crate::graph::plan::Plan;
use crate::node::{Panicked, Write, Writes, caught};
use crate::state::{FieldSet, ReducerError, State};

/// A state to which writes are applied.
pub(crate) struct Commit<'a, S: State> {
    pub(crate) plan: &'a Plan<S>,
    pub(crate) state: &'a mut Arc<S>,
    /// Where the writes are noted down, if anybody wants them.
    pub(crate) changes: Option<&'a mut Changes<S>>,
    /// True when it matters whether a field was written.
    pub(crate) observed: bool,
}

/// What a graph has changed, for the graph around it.
pub(crate) struct Changes<S: State> {
    writes: Vec<Write<S>>,
    /// How many of them hold nothing ephemeral any more.
    settled: usize,
}

impl<S: State> Default for Changes<S> {
    fn default() -> Self {
        Self {
            writes: Vec::new(),
            settled: 0,
        }
    }
}

impl<S: State> Changes<S> {
    pub(crate) fn into_writes(self) -> Vec<Write<S>> {
        self.writes
    }

    /// Takes fields out that are at their defaults again.
    fn forget(&mut self, state: &S, fields: &FieldSet) {
        for write in self.writes.iter_mut().skip(self.settled) {
            match write {
                Write::Update(update) | Write::Overwrite(update) => state.discard(update, fields),
                Write::State(whole) => whole.reset(fields),
            }
        }
        self.settled = self.writes.len();
    }
}

/// The state of a run, and what has changed in it.
pub(crate) struct StateCell<S: State> {
    /// Shared only while several tasks read it; unique again behind the barrier.
    pub(crate) state: Arc<S>,
    /// Everything written, for the graph around this one.
    pub(crate) changes: Option<Changes<S>>,
}

impl<S: State> StateCell<S> {
    pub(crate) const fn new(state: Arc<S>) -> Self {
        Self {
            state,
            changes: None,
        }
    }

    /// The state, ready to be written to; `observed` when it matters whether a field was written.
    pub(crate) fn commit<'a>(&'a mut self, plan: &'a Plan<S>, observed: bool) -> Commit<'a, S> {
        Commit {
            plan,
            state: &mut self.state,
            observed: observed || self.changes.is_some(),
            changes: self.changes.as_mut(),
        }
    }
}

impl<S: State> Commit<'_, S> {
    /// Applies the writes of the only task of a superstep. True when there were any.
    #[inline]
    pub(crate) fn one(&mut self, writer: Writer, writes: Writes<S>) -> Result<bool, InvalidUpdate> {
        self.clear_ephemeral();
        self.entry(writer, writes)
    }

    /// Applies writes that belong to the state as it is: what is ephemeral stays.
    #[inline]
    pub(crate) fn entry(
        &mut self,
        writer: Writer,
        writes: Writes<S>,
    ) -> Result<bool, InvalidUpdate> {
        match writes {
            Writes::None => Ok(false),
            Writes::One(write) => self.apply(writer, write),
            Writes::Many(writes) => {
                let mut wrote = false;
                for write in writes {
                    wrote |= self.apply(writer, write)?;
                }
                Ok(wrote)
            }
        }
    }

    /// Applies the writes of the tasks of a superstep, in their order. True when there were any.
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
            let mut wrote = false;
            for (writer, writes) in done {
                wrote |= self.entry(writer, writes)?;
            }
            return Ok(wrote);
        }
        let footprints: Vec<_> = done
            .iter()
            .map(|(writer, writes)| self.footprint(*writer, writes))
            .collect();
        let overwritten = self.check(&footprints)?;
        self.clear_ephemeral();
        let mut wrote = false;
        for ((writer, mut writes), footprint) in done.into_iter().zip(&footprints) {
            if !overwritten.is_empty() {
                // What another task overwrites, this one has not written.
                let mut lost = overwritten.clone();
                lost.remove_all(&footprint.overwritten);
                for write in writes.as_mut_slice() {
                    if let Write::Update(update) = write {
                        self.state.discard(update, &lost);
                    }
                }
            }
            wrote |= self.entry(writer, writes)?;
        }
        Ok(wrote)
    }

    /// Applies one write. True when it held a field.
    #[inline]
    pub(crate) fn apply(&mut self, writer: Writer, write: Write<S>) -> Result<bool, InvalidUpdate> {
        let wrote = !self.observed
            || write
                .update()
                .is_none_or(|update| !self.state.written(update).is_empty());
        if let Some(changes) = &mut self.changes {
            // The clone goes to the log: the original may carry what makes merging it cheap.
            changes.writes.push(write.clone());
        }
        // Unique behind the barrier; a reader of the event stream may still hold the last state.
        let state = Arc::make_mut(self.state);
        match write {
            Write::Update(update) => merge(self.plan, writer, state, update)?,
            Write::Overwrite(update) => state.overwrite(update),
            Write::State(whole) => *state = *whole,
        }
        Ok(wrote)
    }

    /// Ephemeral fields live for one superstep: whoever writes them now writes them anew.
    fn clear_ephemeral(&mut self) {
        let ephemeral = &self.plan.fields.ephemeral;
        if !ephemeral.is_empty() {
            Arc::make_mut(self.state).reset(ephemeral);
            if let Some(changes) = &mut self.changes {
                changes.forget(self.state, ephemeral);
            }
        }
    }

    /// True when they are updates, and no two write a field that has no reducer: this is seen
    /// without noting which node wrote what.
    fn are_plainly_apart(&self, done: &[(Writer, Writes<S>)]) -> bool {
        let mut written = FieldSet::new();
        for write in done.iter().flat_map(|(_, writes)| writes.as_slice()) {
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
        true
    }

    fn footprint(&self, writer: Writer, writes: &Writes<S>) -> Footprint {
        let mut footprint = Footprint {
            writer,
            updated: FieldSet::new(),
            overwritten: FieldSet::new(),
            whole: false,
        };
        for write in writes.as_slice() {
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

    /// The first conflict, in the order of fields and tasks; else the fields that are overwritten.
    fn check(&self, footprints: &[Footprint]) -> Result<FieldSet, InvalidUpdate> {
        let name = |footprint: &Footprint| footprint.writer.name(self.plan);
        if let Some(whole) = footprints.iter().find(|footprint| footprint.whole) {
            let others: Vec<_> = footprints
                .iter()
                .filter(|other| !std::ptr::eq(*other, whole) && other.wrote())
                .map(name)
                .collect();
            if !others.is_empty() {
                return Err(InvalidUpdate::WholeState {
                    node: name(whole),
                    others,
                });
            }
        }
        let mut overwritten = FieldSet::new();
        let mut clash = FieldSet::new();
        let mut written = FieldSet::new();
        for footprint in footprints {
            clash.union_with(&overwritten.intersection(&footprint.overwritten));
            overwritten.union_with(&footprint.overwritten);
        }
        let field = |index: usize| {
            self.state
                .fields()
                .get(index)
                .map_or_else(|| index.to_string(), |field| field.name().to_owned())
        };
        if let Some(index) = clash.iter().next() {
            let nodes = footprints
                .iter()
                .filter(|f| f.overwritten.contains(index))
                .map(name)
                .collect();
            return Err(InvalidUpdate::Overwrites {
                field: field(index),
                nodes,
            });
        }
        for footprint in footprints {
            clash.union_with(&written.intersection(&footprint.updated));
            written.union_with(&footprint.updated);
        }
        clash.remove_all(&self.plan.fields.reduced);
        clash.remove_all(&overwritten);
        if let Some(index) = clash.iter().next() {
            let nodes = footprints
                .iter()
                .filter(|f| f.updated.contains(index))
                .map(name)
                .collect();
            return Err(InvalidUpdate::Conflict {
                field: field(index),
                nodes,
            });
        }
        Ok(overwritten)
    }
}

/// Merges the update of a node. A reducer that panics ends the run, not the program, and leaves a
/// thread that can be read.
#[inline]
pub(crate) fn merge<S: State>(
    plan: &Plan<S>,
    writer: Writer,
    state: &mut S,
    update: S::Update,
) -> Result<(), InvalidUpdate> {
    match caught(|| state.try_merge(update)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(source)) => Err(refused(plan, writer, source)),
        Err(panicked) => Err(panicked_merging(plan, writer, panicked)),
    }
}

/// The error of a reducer that refused the update of a node.
#[cold]
pub(crate) fn refused<S: State>(
    plan: &Plan<S>,
    writer: Writer,
    source: ReducerError,
) -> InvalidUpdate {
    InvalidUpdate::Reducer {
        writer: writer.named(plan),
        source,
    }
}

/// The error of a reducer that panicked.
#[cold]
pub(crate) fn panicked_merging<S: State>(
    plan: &Plan<S>,
    writer: Writer,
    panicked: Panicked,
) -> InvalidUpdate {
    InvalidUpdate::Panicked {
        writer: writer.named(plan),
        message: panicked.into_message(),
    }
}

/// Which fields a task wrote.
struct Footprint {
    writer: Writer,
    updated: FieldSet,
    overwritten: FieldSet,
    whole: bool,
}

impl Footprint {
    fn wrote(&self) -> bool {
        self.whole || !self.updated.is_empty() || !self.overwritten.is_empty()
    }
}
