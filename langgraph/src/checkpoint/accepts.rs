//! Which savers can store which states.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Bytes, Values};
use crate::state::{State, StateCodec};

/// What a saver stores, if states `S` can be stored so: [`Bytes`] if the update of `S` is
/// `Serialize` and `DeserializeOwned`, [`Values`] always.
///
/// It is the bound of [`graph.checkpointer(saver)`](crate::CompiledStateGraph::checkpointer). A
/// function that attaches any saver repeats it:
///
/// ```
/// use std::sync::Arc;
/// use langgraph::CompiledStateGraph;
/// use langgraph::checkpoint::{Accepts, Saver};
/// use langgraph::state::State;
///
/// fn persistent<S, C>(graph: CompiledStateGraph<S>, saver: Arc<C>) -> CompiledStateGraph<S>
/// where
///     S: State,
///     C: Saver<Stores: Accepts<S>> + ?Sized,
/// {
///     graph.checkpointer(saver)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the saver cannot store a `{S}`",
    label = "expected a saver of `Bytes` or `Values`",
    note = "`Saver::Stores` is `Bytes` or `Values`; bytes need a state whose update is `Serialize` and `DeserializeOwned`"
)]
pub trait Accepts<S: State> {
    /// Returns the codec of the state, if its values are stored as bytes.
    #[doc(hidden)]
    fn codec() -> Option<StateCodec<S>>;
}

impl<S: State> Accepts<S> for Values {
    fn codec() -> Option<StateCodec<S>> {
        None
    }
}

impl<S> Accepts<S> for Bytes
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn codec() -> Option<StateCodec<S>> {
        Some(StateCodec::serde())
    }
}
