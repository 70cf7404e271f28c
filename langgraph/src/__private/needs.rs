//! The resources of a node, by the types of the calls that ask for them.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::error::MissingResource;
use crate::node::{Context, NeededResource};

/// The result of a call that asks for a resource.
#[derive(Debug)]
pub struct Needed<R>(PhantomData<fn() -> R>);

/// Takes the type of a call; the call is never made.
pub fn needed<R>(_: fn(&'static Context) -> R) -> Needed<R> {
    Needed(PhantomData)
}

impl<T: ?Sized + Send + Sync + 'static> Needed<Result<&'static T, MissingResource>> {
    /// Returns the resource.
    pub fn resource(&self) -> Option<NeededResource> {
        Some(NeededResource::of::<T>())
    }
}

impl<T: ?Sized + Send + Sync + 'static> Needed<Result<Arc<T>, MissingResource>> {
    /// Returns the resource.
    pub fn resource(&self) -> Option<NeededResource> {
        Some(NeededResource::of::<T>())
    }
}

/// The fallback for other calls of these names.
pub trait NeedsUnknown {
    /// Finds nothing.
    fn resource(&self) -> Option<NeededResource> {
        None
    }
}

impl<R> NeedsUnknown for Needed<R> {}
