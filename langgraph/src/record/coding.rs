//! Values that the codec of a state encodes.

use crate::error::FormatError;
use crate::graph::plan::Plan;
use crate::state::wire::{LentUpdate, OutputWire};
use crate::state::{State, StateCodec};

/// A value that the state's codec encodes.
pub(super) trait Coding<S: State>: Send + Sync + 'static {
    fn wire(
        &self,
        plan: &Plan<S>,
        codec: StateCodec<S>,
    ) -> Result<OutputWire<LentUpdate<'_>>, FormatError>;
}
