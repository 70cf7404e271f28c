//! The stored form of a state.

use super::coding::Coding;
use crate::error::FormatError;
use crate::graph::plan::Plan;
use crate::node::whole;
use crate::state::wire::{LentUpdate, OutputWire, WriteWire};
use crate::state::{FieldSet, State, StateCodec, TrackedState};

/// A state, to be stored: those of its fields that were written, if that is known.
pub(super) struct Whole<S: State>(pub(super) TrackedState<S>);

impl<S: State> Coding<S> for Whole<S> {
    fn wire(
        &self,
        _: &Plan<S>,
        codec: StateCodec<S>,
    ) -> Result<OutputWire<LentUpdate<'_>>, FormatError> {
        let state = &*self.0.state;
        let mut update = whole(state);
        if let Some(written) = self.0.written() {
            let mut unwritten = FieldSet::first(state.fields().len());
            unwritten.remove_all(&written);
            state.discard(&mut update, &unwritten);
        }
        Ok(OutputWire {
            only_written: self.0.written().is_some(),
            ..OutputWire::writes(vec![WriteWire::State(codec.give(update))])
        })
    }
}
