//! One field that middleware adds to the state of an agent.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::MiddlewareFields;

/// The name and the type of a field that middleware adds to the state of an agent.
///
/// The checkpointer stores it with the rest of the state. Two middlewares of an agent may not have a field
/// of the same name.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{MessagesState, MiddlewareField};
///
/// const SEEN: MiddlewareField<Vec<String>> = MiddlewareField::new("seen");
///
/// let state = MessagesState::default();
/// assert!(SEEN.read(&state.middleware)?.is_empty());
/// # Ok::<(), langgraph_agent::FieldError>(())
/// ```
pub struct MiddlewareField<T> {
    name: &'static str,
    value: PhantomData<fn() -> T>,
}

/// The error if a stored value is not of the type of its [`MiddlewareField`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the value of the middleware field `{field}` does not fit its type: {reason}; was it written by another version of the middleware?"
)]
pub struct FieldError {
    field: String,
    reason: String,
}

langgraph::debug_is_message!(FieldError);

impl FieldError {
    pub(super) fn new(field: &str, reason: impl fmt::Display) -> Self {
        Self {
            field: field.to_owned(),
            reason: reason.to_string(),
        }
    }
}

impl<T> MiddlewareField<T> {
    /// Names a field.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            value: PhantomData,
        }
    }

    /// Returns the name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the value in the state of an agent, or the default if the field has none.
    ///
    /// # Errors
    ///
    /// [`FieldError`] if the stored value is not a `T`.
    pub fn read(&self, fields: &MiddlewareFields) -> Result<T, FieldError>
    where
        T: DeserializeOwned + Default,
    {
        let Some(value) = fields.value(self.name) else {
            return Ok(T::default());
        };
        serde_json::from_value(value).map_err(|error| FieldError::new(self.name, error))
    }
}

impl<T> Clone for MiddlewareField<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for MiddlewareField<T> {}

impl<T> fmt::Debug for MiddlewareField<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MiddlewareField").field(&self.name).finish()
    }
}
