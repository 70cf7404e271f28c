//! Outputs that were read.

use crate::error::FormatError;
use crate::state::wire::{OutputWire, UpdateIndex, WriteWire};

use super::State;

/// An output that was read: its updates, and what stands around them.
pub(crate) struct Decoded<S: State> {
    pub(crate) wire: OutputWire<UpdateIndex>,
    pub(crate) updates: Updates<S>,
}

impl<S: State> Decoded<S> {
    /// An output that only writes.
    pub(super) fn writes(writes: Vec<WriteWire<S::Update>>) -> Result<Self, FormatError> {
        let mut wire = OutputWire::writes(Vec::with_capacity(writes.len()));
        let mut updates = Updates::new();
        for write in writes {
            let write = write.try_map(|update| Ok::<_, FormatError>(updates.push(update)));
            wire.writes.push(write?);
        }
        Ok(Self { wire, updates })
    }
}

/// Updates that were read. Each is used once.
pub(crate) struct Updates<S: State>(Vec<Option<S::Update>>);

impl<S: State> Updates<S> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn push(&mut self, update: S::Update) -> UpdateIndex {
        self.0.push(Some(update));
        UpdateIndex(self.0.len() - 1)
    }

    /// Takes an update out.
    ///
    /// # Errors
    ///
    /// If it is gone already.
    pub(crate) fn take(&mut self, UpdateIndex(at): UpdateIndex) -> Result<S::Update, FormatError> {
        let update = self.0.get_mut(at).and_then(Option::take);
        update.ok_or_else(|| FormatError::new("an update was read twice"))
    }

    /// Takes the updates of these writes out.
    pub(crate) fn writes(
        &mut self,
        wires: Vec<WriteWire<UpdateIndex>>,
    ) -> Result<Vec<WriteWire<S::Update>>, FormatError> {
        let mut writes = Vec::with_capacity(wires.len());
        for wire in wires {
            writes.push(wire.try_map(|at| self.take(at))?);
        }
        Ok(writes)
    }
}
