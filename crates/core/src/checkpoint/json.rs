//! JSON.

use crate::strict::Limits;
use serde::Serialize;
use serde_json::Value;

use super::{Format, ReadValue};
use crate::error::FormatError;

/// JSON: readable with any tool, and every finite number is restored exactly.
///
/// It refuses values that JSON cannot restore, and names their place:
///
/// - NaN and infinities, which `serde_json` writes as `null`;
/// - maps whose keys are not text. `serde_json` writes integers as strings, but a type with
///   `#[serde(flatten)]`, `untagged` or `tag` cannot read such a key;
/// - integers beyond 64 bits, for the same reason;
/// - `Some(None)` and `Some(())`, which are read as `None`;
/// - more than 127 nested values, which `serde_json` does not read.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
/// use langgraph::checkpoint::{Format, Json};
///
/// let visits = HashMap::from([(7_u64, "Ada")]);
/// let refused = Json.encode(&visits).unwrap_err();
/// assert!(refused.to_string().starts_with("a map cannot be stored as JSON with `7` as a key"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Json {
    /// Converts a value to JSON for display: an interrupt, an event, a message to another process.
    ///
    /// The value need not be restored to its type, so `None` may become `null`.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::checkpoint::Json;
    ///
    /// assert_eq!(Json::to_value(&("seats", 2)).unwrap(), serde_json::json!(["seats", 2]));
    /// let refused = Json::to_value(&[0.5, f64::NAN]).unwrap_err();
    /// assert_eq!(refused.path(), Some("[1]"));
    /// ```
    ///
    /// # Errors
    ///
    /// A value that JSON cannot hold (NaN, keys that are not text), with its place.
    pub fn to_value(value: &(impl Serialize + ?Sized)) -> Result<Value, FormatError> {
        held(value, &SHOWN)
    }

    /// Converts a value to JSON that is read as its own type again: an answer, a key of a cache.
    ///
    /// # Errors
    ///
    /// As [`to_value`](Self::to_value), and a `Some` that would be read as `None`.
    pub fn to_exact_value(value: &(impl Serialize + ?Sized)) -> Result<Value, FormatError> {
        held(value, &GIVEN_BACK)
    }
}

impl Format for Json {
    fn tag(&self) -> &'static str {
        "json"
    }

    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
        Limits::JSON.check(value)?;
        Ok(serde_json::to_vec(value)?)
    }

    fn decode(&self, bytes: &[u8], read: &mut ReadValue<'_>) -> Result<(), FormatError> {
        let mut from = serde_json::Deserializer::from_slice(bytes);
        read(&mut <dyn erased_serde::Deserializer<'_>>::erase(&mut from))?;
        Ok(from.end()?)
    }
}

/// The limits of values that are always JSON, whatever the thread's format: interrupts, events.
/// They are embedded in other JSON, which must be readable too. Readers treat `null` and `None`
/// alike.
const SHOWN: Limits = Limits::new("JSON")
    .finite_numbers()
    .depth(SHOWN_DEPTH)
    .fixed();

const SHOWN_DEPTH: usize = 100;

/// The limits of values that a node reads as its own type: answers.
const GIVEN_BACK: Limits = SHOWN.null_is_none();

/// Every value that a conversion to JSON loses becomes `null`. So a result without `null` needs no
/// further check, and the value is serialized only once.
fn held(value: &(impl Serialize + ?Sized), limits: &Limits) -> Result<Value, FormatError> {
    let json = serde_json::to_value(value)?;
    if !is_whole(&json, SHOWN_DEPTH) {
        // One check for all types: the value is erased.
        limits.check(&value as &dyn erased_serde::Serialize)?;
    }
    Ok(json)
}

/// Returns true without a `null`, and with at most `depth` nested values.
fn is_whole(value: &Value, depth: usize) -> bool {
    let inside = |value| {
        depth
            .checked_sub(1)
            .is_some_and(|depth| is_whole(value, depth))
    };
    match value {
        Value::Null => false,
        Value::Array(values) => values.iter().all(inside),
        Value::Object(values) => values.values().all(inside),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
