//! The changes of a subgraph.

use crate::state::{FieldSet, State, Write, Writes};

/// The changes of a graph, for its parent.
pub(crate) struct Changes<S: State> {
    pub(crate) writes: Writes<S>,
    /// The number of changes without ephemeral fields.
    settled: usize,
}

impl_default!([S: State] Changes<S> { writes, settled });

impl<S: State> Changes<S> {
    pub(crate) fn into_writes(self) -> Writes<S> {
        self.writes
    }

    /// Notes an update before it is merged. The clone is noted: the original may have fresh ids,
    /// which make merging cheap.
    pub(crate) fn note(&mut self, update: &S::Update) {
        self.writes.push(Write::Update(update.clone()));
    }

    /// Removes fields that have their defaults again.
    pub(crate) fn forget(&mut self, state: &S, fields: &FieldSet) {
        let writes = self.writes.as_mut_slice();
        for write in writes.iter_mut().skip(self.settled) {
            match write {
                Write::Update(update) | Write::Overwrite(update) => state.discard(update, fields),
                Write::State(whole) => whole.reset(fields),
            }
        }
        self.settled = self.writes.len();
    }
}
