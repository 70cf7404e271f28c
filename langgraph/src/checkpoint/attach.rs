//! Which savers can keep which states.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Checkpointer;
use crate::state::{State, StateCodec};

/// A saver that keeps values as they are: any state will do.
pub trait KeepsValues: Checkpointer {}

/// A saver that keeps bytes: the state's update has to be `Serialize` and `DeserializeOwned`.
pub trait KeepsBytes: Checkpointer {}

/// What a graph takes as its checkpointer: an [`Arc`] of a saver that says what it keeps, by
/// [`KeepsValues`] or [`KeepsBytes`]; or an `Arc<dyn Checkpointer>`, which counts as one that keeps
/// bytes.
///
/// `K` is what it keeps; the compiler finds it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a saver that a graph can take",
    label = "expected an `Arc` of a saver",
    note = "a saver implements `Checkpointer`, and `KeepsValues` or `KeepsBytes`"
)]
pub trait Saver<K> {
    /// The saver, whatever it is.
    fn into_checkpointer(self) -> Arc<dyn Checkpointer>;
}

/// What a saver keeps of graphs over `S`.
///
/// Two traits, so that the compiler knows what the saver keeps before it looks at the state: then
/// its error names the field that cannot be stored.
pub trait Keeps<S: State> {
    /// How the state becomes bytes, if it has to.
    fn codec() -> Option<StateCodec<S>>;
}

/// A saver that keeps values as they are.
#[derive(Debug)]
pub enum ByValue {}

/// A saver that keeps bytes.
#[derive(Debug)]
pub enum ByBytes {}

impl<S: State> Keeps<S> for ByValue {
    fn codec() -> Option<StateCodec<S>> {
        None
    }
}

impl<S: State> Keeps<S> for ByBytes
where
    S::Update: Serialize + DeserializeOwned,
{
    fn codec() -> Option<StateCodec<S>> {
        Some(StateCodec::serde())
    }
}

impl<C: KeepsValues> Saver<ByValue> for Arc<C> {
    fn into_checkpointer(self) -> Arc<dyn Checkpointer> {
        self
    }
}

impl<C: KeepsBytes> Saver<ByBytes> for Arc<C> {
    fn into_checkpointer(self) -> Arc<dyn Checkpointer> {
        self
    }
}

impl Saver<ByBytes> for Arc<dyn Checkpointer> {
    fn into_checkpointer(self) -> Arc<dyn Checkpointer> {
        self
    }
}
