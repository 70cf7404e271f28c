//! The keys of work that runs once.

use std::fmt::Display;

use langgraph_topology::hash::Fnv;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::checkpoint::{Format as _, Json};
use crate::error::{FormatError, NodeError};

/// The key of a piece of work within its task, as [`Context::once`](crate::Context::once) and
/// `EffectExt::effect` of `langgraph-agent` take it.
///
/// A name is a key: `"charge"`. In a loop, a name with a value is one: `("undo", index)` is the key `undo/3` if the
/// index is 3, so each value is a piece of work of its own. [`with`](Self::with) does something else: it states
/// what one piece of work works on, which may not change.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Trip {
///     bookings: Vec<String>,
///     #[reducer(append)]
///     log: Vec<String>,
/// }
///
/// async fn undo(booking: &str) -> Result<String, NodeError> {
///     Ok(format!("{booking} is cancelled"))
/// }
///
/// #[node]
/// async fn compensate(trip: &Trip, cx: &Context) -> Result<TripUpdate, NodeError> {
///     let mut log = Vec::new();
///     for (index, booking) in trip.bookings.iter().enumerate() {
///         log.push(cx.once(("undo", index), undo(booking)).await?);
///     }
///     Ok(TripUpdate::default().log(log))
/// }
/// # let _ = compensate;
/// ```
#[derive(Clone, Debug)]
pub struct OnceKey {
    name: String,
    /// The arguments of the work as JSON.
    arguments: Option<Result<Vec<u8>, String>>,
}

impl OnceKey {
    /// Creates a key from a name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
        }
    }

    /// States the arguments of the work. A later call under this key with other arguments is an error: a node that
    /// runs again must not charge another amount.
    #[must_use]
    pub fn with(mut self, arguments: &(impl Serialize + ?Sized)) -> Self {
        let bytes = Json.encode(&arguments);
        self.arguments = Some(bytes.map_err(|error| error.to_string()));
        self
    }

    /// Puts the name into a scope: `scope/name`.
    #[must_use]
    pub fn scoped(mut self, scope: &str) -> Self {
        self.name = format!("{scope}/{}", self.name);
        self
    }

    /// Returns the text of the key.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments of the work, if they are stated.
    ///
    /// # Errors
    ///
    /// If they cannot be stored, or are not a `T`.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<Option<T>, NodeError> {
        let Some(bytes) = self.bytes()? else {
            return Ok(None);
        };
        let read = serde_json::from_slice(bytes);
        read.map(Some)
            .map_err(|error| self.unwritable(&FormatError::new(error)))
    }

    fn bytes(&self) -> Result<Option<&[u8]>, NodeError> {
        match &self.arguments {
            None => Ok(None),
            Some(Ok(bytes)) => Ok(Some(bytes)),
            Some(Err(error)) => Err(self.unwritable(error)),
        }
    }

    fn unwritable(&self, error: &dyn Display) -> NodeError {
        NodeError::msg(format!(
            "the arguments of `{}` cannot be stored: {error}",
            self.name
        ))
    }

    /// Returns the hash of the arguments; 0 without any.
    pub(super) fn hash(&self) -> Result<u64, NodeError> {
        let Some(bytes) = self.bytes()? else {
            return Ok(0);
        };
        let mut fnv = Fnv::new();
        for byte in bytes {
            fnv.byte(*byte);
        }
        Ok(fnv.finish())
    }
}

impl From<String> for OnceKey {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl From<&str> for OnceKey {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<&String> for OnceKey {
    fn from(name: &String) -> Self {
        Self::new(name)
    }
}

impl<N: Display, V: Display> From<(N, V)> for OnceKey {
    fn from((name, value): (N, V)) -> Self {
        Self::new(format!("{name}/{value}"))
    }
}
