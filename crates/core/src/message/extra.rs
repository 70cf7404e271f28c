//! What a message has beyond its fields.

use serde_json::{Map, Value};

/// The keys of a message for which [`Message`](super::Message) has no field: `additional_kwargs`,
/// `response_metadata`, the `name` of a user, the `artifact` of a tool, and any other.
///
/// They are read, stored and written as they are. Models do not get them.
///
/// # Examples
///
/// ```
/// use langgraph::message::Message;
/// use serde_json::json;
///
/// let wire = json!({"role": "user", "content": "hi", "name": "ada", "additional_kwargs": {"a": 1}});
/// let mut message: Message = serde_json::from_value(wire.clone())?;
/// assert_eq!(message.extra.get("name"), Some(&json!("ada")));
/// assert_eq!(serde_json::to_value(&message)?, wire);
///
/// message.extra.remove("additional_kwargs");
/// message.extra.insert("name", "grace");
/// assert_eq!(message.extra.iter().count(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(Option<Box<Map<String, Value>>>);

impl Extra {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref()?.get(key)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.0
            .get_or_insert_default()
            .insert(key.into(), value.into());
    }

    /// Removes a key, and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let fields = self.0.as_mut()?;
        let removed = fields.remove(key);
        if fields.is_empty() {
            self.0 = None;
        }
        removed
    }

    /// Returns true if there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the keys with their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = self.0.iter().flat_map(|fields| fields.iter());
        fields.map(|(key, value)| (key.as_str(), value))
    }
}
