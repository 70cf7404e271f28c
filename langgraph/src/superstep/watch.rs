//! Whether a chain is watched, and how it has the state.

use std::borrow::Borrow;
use std::sync::Arc;

use crate::state::State;

/// Whether the supersteps of a chain are stored or read: other chains are compiled without what that takes.
pub(super) trait Watch {
    const WATCHED: bool;
    /// The state between two merges.
    type Held<S: State>: Borrow<S> + Send + Sync;

    fn hold<S: State>(state: &mut Arc<S>) -> &mut Self::Held<S>;
    fn make_mut<S: State>(held: &mut Self::Held<S>) -> &mut S;
}

/// Nothing else holds the state: checked once, and not for every merge.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    const WATCHED: bool = false;
    type Held<S: State> = S;

    #[inline]
    fn hold<S: State>(state: &mut Arc<S>) -> &mut S {
        Arc::make_mut(state)
    }

    #[inline]
    fn make_mut<S: State>(held: &mut S) -> &mut S {
        held
    }
}

/// A reader of events may hold the state, as long as nothing is merged into it.
pub(super) struct Watched;

impl Watch for Watched {
    const WATCHED: bool = true;
    type Held<S: State> = Arc<S>;

    #[inline]
    fn hold<S: State>(state: &mut Arc<S>) -> &mut Arc<S> {
        state
    }

    #[inline]
    fn make_mut<S: State>(held: &mut Arc<S>) -> &mut S {
        Arc::make_mut(held)
    }
}
