//! What `#[derive(State)]` calls on fields, independent of graphs.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};

use super::{Reducer, ReducerFn};
use crate::error::ReducerError;
use crate::message::Message;

/// The built-in reducers under their names in `#[reducer(…)]`.
#[allow(missing_debug_implementations)]
pub mod reducers {
    pub use crate::state::{
        Add as add, And as and, Append as append, KeepFirst as keep_first, Max as max,
        MergeMap as merge_map, Min as min, Or as or, Replace as replace, Union as union,
    };
    pub use crate::state::{AddMessages as add_messages, AddMessagesStrict as add_messages_strict};
}

/// What `#[reducer(…)]` takes: a function, or a value that is a reducer.
#[diagnostic::on_unimplemented(
    message = "this is not a reducer of `{T}`",
    label = "expected a reducer of `{T}`",
    note = "a reducer is a `fn({T}, {U}) -> {T}`, a closure of that shape, or a value that implements `Reducer<{T}>`"
)]
pub trait IntoReducer<T, U, K> {
    /// The type of the reducer.
    type Reducer: Reducer<T, U>;

    /// Converts into the reducer.
    fn into_reducer(self) -> Self::Reducer;
}

/// Marks values.
#[derive(Debug)]
pub enum ByValue {}

/// Marks functions.
#[derive(Debug)]
pub enum ByFunction {}

impl<T, U, R: Reducer<T, U>> IntoReducer<T, U, ByValue> for R {
    type Reducer = R;

    fn into_reducer(self) -> R {
        self
    }
}

impl<T, U, F: Fn(T, U) -> T + Send + Sync + 'static> IntoReducer<T, U, ByFunction> for F {
    type Reducer = ReducerFn<F>;

    fn into_reducer(self) -> ReducerFn<F> {
        ReducerFn::new(self)
    }
}

/// Creates the reducer of a field of type `T` with updates of type `U`.
pub fn reducer<T, U, K, R: IntoReducer<T, U, K>>(reducer: R) -> R::Reducer {
    reducer.into_reducer()
}

/// Creates the reducer from a closure, whose argument types come from the field.
pub fn closure_reducer<T, U, F>(closure: F) -> ReducerFn<F>
where
    F: Fn(T, U) -> T + Send + Sync + 'static,
{
    ReducerFn::new(closure)
}

/// Merges a write to a field, in place.
///
/// # Errors
///
/// The error of the reducer, with the field's name.
pub fn merge_field<T: Default, U>(
    reducer: &impl Reducer<T, U>,
    current: &mut T,
    update: U,
    name: &str,
) -> Result<(), ReducerError> {
    reducer
        .try_merge(current, update)
        .map_err(|error| error.in_field(name))
}

/// Passes the messages that are written to a chat history field to `see`.
///
/// A field of another type is skipped: it has an error of its own.
pub fn see_messages(field: &dyn Any, see: &mut dyn FnMut(&Message)) {
    if let Some(messages) = field.downcast_ref::<Vec<Message>>() {
        messages.iter().for_each(see);
    }
}

/// Gives an id to every message of a chat history field without one.
///
/// A field of another type is skipped: it has an error of its own.
pub fn give_ids(field: &mut dyn Any) {
    if let Some(messages) = field.downcast_mut::<Vec<Message>>() {
        crate::message::merge::give_missing_ids(messages);
    }
}

/// Takes the generated ids from the messages that a write adds to a chat history field.
///
/// A field of another type is skipped: it has an error of its own.
pub fn forget_new_ids(field: &dyn Any, write: &mut dyn Any) {
    if let Some(update) = write.downcast_mut::<Vec<Message>>() {
        crate::message::merge::forget_new_ids(the_messages(field), update);
    }
}

/// Returns the chat history of a field.
///
/// A field of another type has an error of its own.
pub fn the_messages(field: &dyn Any) -> &[Message] {
    let messages = field.downcast_ref::<Vec<Message>>();
    messages.map_or(&[], Vec::as_slice)
}

/// Creates the value of a messages field in an update.
pub fn written_messages<T: 'static>(messages: Vec<Message>) -> Option<T> {
    let mut written = None;
    if let Some(field) = (&mut written as &mut dyn Any).downcast_mut() {
        *field = Some(messages);
    }
    written
}

/// An update that is read field by field.
pub trait ReadField<'de>: Default {
    /// Reads the value of the field `name`; returns false if there is no such field.
    ///
    /// # Errors
    ///
    /// The errors of the field's own type.
    fn read<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// Reads an update, and skips unknown fields.
///
/// # Errors
///
/// If the input is not a map, or a field's value does not fit.
pub fn read_fields<'de, D: Deserializer<'de>, U: ReadField<'de>>(
    deserializer: D,
) -> Result<U, D::Error> {
    deserializer.deserialize_map(FieldsVisitor(PhantomData))
}

struct FieldsVisitor<U>(PhantomData<U>);

impl<'de, U: ReadField<'de>> Visitor<'de> for FieldsVisitor<U> {
    type Value = U;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of an update")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<U, A::Error> {
        let mut update = U::default();
        while let Some(name) = map.next_key::<String>()? {
            let read = update.read(&name, &mut map);
            if !read.map_err(|error| A::Error::custom(format!("field `{name}`: {error}")))? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(update)
    }
}
