//! JSON.

use langgraph_strict_serde::Limits;
use serde::Serialize;
use serde_json::Value;

use super::{Format, FormatError, ReadValue};

/// JSON: readable with any tool, and every finite number comes back bit by bit.
///
/// What JSON cannot give back is refused when it is written, with its place in the value:
///
/// - NaN and infinities, which `serde_json` writes as `null`;
/// - maps whose keys are not text. `serde_json` writes integers as strings; but in a type with
///   `#[serde(flatten)]`, `untagged` or `tag` such a key is not read again;
/// - integers beyond 64 bits, for the same reason;
/// - `Some(None)` and `Some(())`, which come back as `None`;
/// - more than 127 values inside each other, which `serde_json` does not read.
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
    /// A value as JSON that people see: a question, an event, a message to somebody else.
    ///
    /// What is written here need not come back as the type it was, so `None` may become `null`.
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
    /// What JSON cannot hold (NaN, keys that are not text), and where in the value it is.
    pub fn to_value(value: &(impl Serialize + ?Sized)) -> Result<Value, FormatError> {
        held(value, &SHOWN)
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

/// What is JSON whatever a thread is stored in: questions, events. They become a part of something
/// else, which has to be read too. `null` and `None` are the same to whoever reads them.
const SHOWN: Limits = Limits::new("JSON")
    .finite_numbers()
    .depth(SHOWN_DEPTH)
    .fixed();

const SHOWN_DEPTH: usize = 100;

/// What is given back to a node as the type it asks for: answers.
const GIVEN_BACK: Limits = SHOWN.null_is_none();

/// A value as JSON that a node gets.
pub(crate) fn given_back(value: &(impl Serialize + ?Sized)) -> Result<Value, FormatError> {
    held(value, &GIVEN_BACK)
}

/// Whatever is lost on the way to a JSON value becomes `null`: without one there is nothing to look
/// for, and the value is serialized once.
fn held(value: &(impl Serialize + ?Sized), limits: &Limits) -> Result<Value, FormatError> {
    let json = serde_json::to_value(value)?;
    if !is_whole(&json, SHOWN_DEPTH) {
        // One check for all types: the value is erased.
        limits.check(&value as &dyn erased_serde::Serialize)?;
    }
    Ok(json)
}

/// True without a `null` in it, and when no more values are inside each other than `depth`.
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
