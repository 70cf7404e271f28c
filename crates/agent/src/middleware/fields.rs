//! The fields that middleware adds to the state of an agent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field_write::FieldWrite;
use langgraph::error::ReducerError;
use langgraph::state::Reducer;

/// The fields that the middleware of an agent has in its state, by name: a field of the agent's state,
/// and the update of that field.
///
/// Middleware reads and writes them as [`MiddlewareField`](super::MiddlewareField)s. A program that looks
/// at a state reads them with [`read`](super::MiddlewareField::read).
///
/// # Wire form
///
/// An object of values by name. In an update, `{"$add": n}`, `{"$append": [..]}` and `{"$merge": {..}}`
/// stand for what is added to the value; in `$merge`, `null` removes an entry. Without a field it is null: a
/// server leaves it out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    from = "Option<BTreeMap<String, FieldWrite>>",
    into = "Option<BTreeMap<String, FieldWrite>>"
)]
pub struct MiddlewareFields(BTreeMap<String, FieldWrite>);

impl From<Option<BTreeMap<String, FieldWrite>>> for MiddlewareFields {
    fn from(fields: Option<BTreeMap<String, FieldWrite>>) -> Self {
        Self(fields.unwrap_or_default())
    }
}

impl From<MiddlewareFields> for Option<BTreeMap<String, FieldWrite>> {
    fn from(fields: MiddlewareFields) -> Self {
        Some(fields.0).filter(|fields| !fields.is_empty())
    }
}

/// The reducer of a field of [`MiddlewareFields`]: each write has its own rule.
///
/// # Examples
///
/// A state of one's own with room for the fields of middleware:
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{AgentState, MERGE_FIELDS, MiddlewareFields};
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Desk {
///     #[reducer(add_messages)]
///     messages: Vec<Message>,
///     #[reducer(MERGE_FIELDS)]
///     middleware: MiddlewareFields,
/// }
///
/// impl AgentState for Desk {
///     fn middleware_fields(&self) -> Option<&MiddlewareFields> {
///         Some(&self.middleware)
///     }
///
///     fn update_from_fields(fields: MiddlewareFields) -> Option<DeskUpdate> {
///         Some(DeskUpdate::default().middleware(fields))
///     }
/// }
/// ```
pub const MERGE_FIELDS: MergeFields = MergeFields;

/// The type of [`MERGE_FIELDS`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeFields;

impl Reducer<MiddlewareFields> for MergeFields {
    /// A write that does not fit its field is left out; the runtime calls
    /// [`try_merge`](Reducer::try_merge), which refuses it.
    fn merge(&self, mut current: MiddlewareFields, update: MiddlewareFields) -> MiddlewareFields {
        let _ = self.try_merge(&mut current, update);
        current
    }

    fn try_merge(
        &self,
        current: &mut MiddlewareFields,
        update: MiddlewareFields,
    ) -> Result<(), ReducerError> {
        for (name, write) in update.0 {
            // A state has values; what is added to nothing is one.
            let write = if current.0.contains_key(&name) {
                write
            } else {
                FieldWrite::Set(write.into_value())
            };
            current.apply(name, write).map_err(ReducerError::new)?;
        }
        Ok(())
    }
}

impl MiddlewareFields {
    /// Returns true if no field has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the fields that have a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn get(&self, name: &str) -> Option<&FieldWrite> {
        self.0.get(name)
    }

    /// Returns a value as JSON.
    pub fn value(&self, name: &str) -> Option<Value> {
        self.0.get(name).map(|write| write.clone().into_value())
    }

    /// Merges a write into the value, or into an earlier write.
    pub(super) fn apply(&mut self, name: String, write: FieldWrite) -> Result<(), String> {
        match self.0.entry(name) {
            Entry::Vacant(vacant) => {
                vacant.insert(write);
            }
            Entry::Occupied(mut known) => {
                let refused = known.get_mut().merge(write).err();
                if let Some(reason) = refused {
                    return Err(format!("middleware field `{}`: {reason}", known.key()));
                }
            }
        }
        Ok(())
    }
}
