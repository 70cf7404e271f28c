//! Detects whether a derived state can be stored as bytes.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::state::State;
use crate::state::StateCodec;

/// Answers `codec` through the first of the two traits below that applies. The more specific one
/// requires that the update can be serialized.
#[derive(Debug)]
pub struct CodecOf<S>(PhantomData<fn() -> S>);

impl<S> CodecOf<S> {
    pub const NEW: Self = Self(PhantomData);
}

pub trait WithCodec<S: State> {
    fn codec(&self) -> Option<StateCodec<S>>;
}

impl<S: State> WithCodec<S> for CodecOf<S>
where
    S::Update: Serialize + DeserializeOwned,
{
    fn codec(&self) -> Option<StateCodec<S>> {
        Some(StateCodec::serde())
    }
}

pub trait WithoutCodec<S: State> {
    fn codec(&self) -> Option<StateCodec<S>>;
}

impl<S: State> WithoutCodec<S> for &CodecOf<S> {
    fn codec(&self) -> Option<StateCodec<S>> {
        None
    }
}
