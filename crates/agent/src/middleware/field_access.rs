//! Reading and writing fields while a hook or a tool runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::field_write::FieldWrite;
use super::{FieldError, MiddlewareField, MiddlewareFields};

/// The fields of middleware as a hook or a tool sees them.
///
/// What it writes becomes a part of the update of its node, so other nodes see it from the next superstep
/// on; a field that reads its own writes sees them at once. What a call of a tool writes counts only if the call does
/// not fail. Tools that run in parallel see none of each
/// other's writes; additions of all of them count.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{MiddlewareField, ToolContext, ToolError};
///
/// const NOTES: MiddlewareField<Vec<String>> = MiddlewareField::new("notes");
///
/// async fn note(text: String, cx: &ToolContext<'_>) -> Result<String, ToolError> {
///     cx.fields().append(NOTES, [text])?;
///     Ok(format!("{} notes", cx.fields().read(NOTES)?.len()))
/// }
/// # let _ = note;
/// ```
#[derive(Debug, Default)]
pub struct FieldAccess<'a> {
    stored: Option<&'a MiddlewareFields>,
    written: Mutex<MiddlewareFields>,
}

impl<'a> FieldAccess<'a> {
    pub(crate) fn new(stored: Option<&'a MiddlewareFields>) -> Self {
        Self {
            stored,
            written: Mutex::default(),
        }
    }

    /// Returns the value of a field, or the default if it has none.
    ///
    /// # Errors
    ///
    /// [`FieldError`] if the stored value is not a `T`.
    pub fn read<T: DeserializeOwned + Default>(
        &self,
        field: MiddlewareField<T>,
    ) -> Result<T, FieldError> {
        let name = field.name();
        let stored = self.stored.and_then(|stored| stored.get(name)).cloned();
        let own = self.written().get(name).cloned();
        let value = match (stored, own) {
            (None, None) => return Ok(T::default()),
            (Some(value), None) | (None, Some(value)) => value,
            (Some(mut value), Some(own)) => {
                let merged = value.merge(own);
                merged.map_err(|error| FieldError::new(name, error))?;
                value
            }
        };
        serde_json::from_value(value.into_value()).map_err(|error| FieldError::new(name, error))
    }

    /// Sets a field. If two tasks of a superstep set it, the later one in the order of tasks counts.
    ///
    /// # Errors
    ///
    /// [`FieldError`] if the value cannot be written as JSON.
    pub fn set<T: Serialize>(
        &self,
        field: MiddlewareField<T>,
        value: &T,
    ) -> Result<(), FieldError> {
        let value = json(field.name(), value)?;
        self.write(field.name(), FieldWrite::Set(value))
    }

    /// Adds to a number.
    ///
    /// # Errors
    ///
    /// [`FieldError`] if it cannot be added to what this task has written before.
    pub fn add(&self, field: MiddlewareField<u64>, more: u64) -> Result<(), FieldError> {
        self.write(field.name(), FieldWrite::Add(more.into()))
    }

    /// Appends items to a list.
    ///
    /// # Errors
    ///
    /// [`FieldError`] if an item cannot be written as JSON.
    pub fn append<T: Serialize>(
        &self,
        field: MiddlewareField<Vec<T>>,
        items: impl IntoIterator<Item = T>,
    ) -> Result<(), FieldError> {
        let items = items.into_iter().map(|item| json(field.name(), &item));
        let items = items.collect::<Result<_, _>>()?;
        self.write(field.name(), FieldWrite::Append(items))
    }

    /// Sets an entry of a map; `None` removes it. Only the entry is stored.
    ///
    /// # Errors
    ///
    /// [`FieldError`] if the value cannot be written as JSON.
    pub fn insert<T: Serialize>(
        &self,
        field: MiddlewareField<BTreeMap<String, T>>,
        key: impl Into<String>,
        value: Option<&T>,
    ) -> Result<(), FieldError> {
        let value = match value {
            Some(value) => json(field.name(), value)?,
            None => Value::Null,
        };
        let entry = Map::from_iter([(key.into(), value)]);
        self.write(field.name(), FieldWrite::Merge(entry))
    }

    /// Returns one entry of a map, without reading the others.
    ///
    /// # Errors
    ///
    /// [`FieldError`] if the stored entry is not a `T`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use langgraph_agent::{MiddlewareField, ToolContext, ToolError};
    ///
    /// const PRICES: MiddlewareField<BTreeMap<String, u64>> = MiddlewareField::new("prices");
    ///
    /// async fn price(of: String, cx: &ToolContext<'_>) -> Result<String, ToolError> {
    ///     Ok(match cx.fields().entry(PRICES, &of)? {
    ///         Some(price) => price.to_string(),
    ///         None => format!("known: {}", cx.fields().keys(PRICES).join(", ")),
    ///     })
    /// }
    /// # let _ = price;
    /// ```
    pub fn entry<T: DeserializeOwned>(
        &self,
        field: MiddlewareField<BTreeMap<String, T>>,
        key: &str,
    ) -> Result<Option<T>, FieldError> {
        let written = self.written();
        let own = written.get(field.name()).and_then(|own| own.entry(key));
        let entry = own.or_else(|| self.stored?.get(field.name())?.entry(key));
        let entry = entry.filter(|value| !value.is_null());
        let value = entry.map(T::deserialize).transpose();
        value.map_err(|error| FieldError::new(field.name(), error))
    }

    /// Returns the keys of a map, sorted.
    pub fn keys<T>(&self, field: MiddlewareField<BTreeMap<String, T>>) -> Vec<String> {
        let mut keys = BTreeSet::new();
        let stored = self.stored.and_then(|stored| stored.get(field.name()));
        let written = self.written();
        for write in stored.into_iter().chain(written.get(field.name())) {
            write.change_keys(&mut keys);
        }
        keys.into_iter().collect()
    }

    /// Returns what has been written so far, for [`go_back_to`](Self::go_back_to).
    pub(crate) fn written_so_far(&self) -> MiddlewareFields {
        self.written().clone()
    }

    /// Takes back what has been written since.
    pub(crate) fn go_back_to(&self, before: MiddlewareFields) {
        *self.written() = before;
    }

    /// Returns true if something was written.
    pub(crate) fn is_written(&self) -> bool {
        !self.written().is_empty()
    }

    /// Takes what was written.
    pub(crate) fn take(&self) -> MiddlewareFields {
        std::mem::take(&mut self.written())
    }

    fn write(&self, name: &str, write: FieldWrite) -> Result<(), FieldError> {
        let written = self.written().apply(name.to_owned(), write);
        written.map_err(|error| FieldError::new(name, error))
    }

    fn written(&self) -> MutexGuard<'_, MiddlewareFields> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn json(name: &str, value: &impl Serialize) -> Result<Value, FieldError> {
    serde_json::to_value(value).map_err(|error| FieldError::new(name, error))
}
