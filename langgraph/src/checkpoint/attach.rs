//! Which savers can keep which states.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checkpointer, StateCodec};
use crate::state::State;

/// A saver that keeps values as they are: any state will do.
pub trait KeepsValues: Checkpointer {}

/// A saver that keeps bytes: the state's update has to be `Serialize` and `DeserializeOwned`.
pub trait KeepsBytes: Checkpointer {}

/// A saver that can keep the threads of graphs over `S`.
///
/// Implemented for an [`Arc`] of a saver that says what it keeps, by [`KeepsValues`] or
/// [`KeepsBytes`]; and for `Arc<dyn Checkpointer>`, which may be either.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot keep threads of a graph over `{S}`",
    label = "not a saver for a graph over `{S}`",
    note = "a saver that keeps bytes needs every field of the state to be `Serialize` and `DeserializeOwned`, or marked `#[state(untracked)]`"
)]
pub trait SaverFor<S: State, K> {
    /// The saver, and how the state becomes bytes.
    fn attach(self) -> Attached<S>;
}

/// A saver with what it needs to know of a state.
pub struct Attached<S: State> {
    pub(crate) saver: Arc<dyn Checkpointer>,
    pub(crate) codec: Option<StateCodec<S>>,
}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByValue {}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByBytes {}

#[doc(hidden)]
#[derive(Debug)]
pub enum ByChoice {}

impl<S: State, C: KeepsValues> SaverFor<S, ByValue> for Arc<C> {
    fn attach(self) -> Attached<S> {
        Attached {
            saver: self,
            codec: None,
        }
    }
}

impl<S: State, C: KeepsBytes> SaverFor<S, ByBytes> for Arc<C>
where
    S::Update: Serialize + DeserializeOwned,
{
    fn attach(self) -> Attached<S> {
        Attached {
            saver: self,
            codec: Some(StateCodec::serde()),
        }
    }
}

impl<S: State> SaverFor<S, ByChoice> for Arc<dyn Checkpointer>
where
    S::Update: Serialize + DeserializeOwned,
{
    fn attach(self) -> Attached<S> {
        Attached {
            saver: self,
            codec: Some(StateCodec::serde()),
        }
    }
}

impl<S: State> fmt::Debug for Attached<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached")
            .field("codec", &self.codec)
            .finish_non_exhaustive()
    }
}
