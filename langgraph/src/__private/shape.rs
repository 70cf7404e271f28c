//! The shapes of answers and results, by the types that a function names.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use crate::graph::KeyInfo;

/// A type that a function names at a call by a key.
#[derive(Debug)]
pub struct Shaped<T>(PhantomData<fn() -> T>);

impl<T> Shaped<T> {
    /// The type.
    pub const TYPE: Self = Self(PhantomData);
}

impl<T: DeserializeOwned> Shaped<T> {
    /// Adds the shape of the type.
    pub fn add_to(&self, key: KeyInfo) -> KeyInfo {
        key.shaped::<T>()
    }
}

/// The fallback for types that are not read: calls of these names on something else.
pub trait UnknownShape {
    /// Returns the key as it is.
    fn add_to(&self, key: KeyInfo) -> KeyInfo {
        key
    }
}

impl<T> UnknownShape for Shaped<T> {}
