//! One write of a field, and its rule.

use std::collections::BTreeSet;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value, json};

/// A value, or what is added to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldWrite {
    Set(Value),
    Add(Number),
    Append(Vec<Value>),
    Merge(Map<String, Value>),
}

static NO_ENTRY: Value = Value::Null;

impl FieldWrite {
    /// The value of a field that had none before this write.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Set(value) => value,
            Self::Add(number) => Value::Number(number),
            Self::Append(items) => Value::Array(items),
            Self::Merge(mut entries) => {
                entries.retain(|_, value| !value.is_null());
                Value::Object(entries)
            }
        }
    }

    /// Merges a later write into this one.
    pub(super) fn merge(&mut self, later: Self) -> Result<(), String> {
        match (&mut *self, later) {
            (_, later @ Self::Set(_)) => *self = later,
            (Self::Set(Value::Null), later) => *self = Self::Set(later.into_value()),
            (Self::Add(known) | Self::Set(Value::Number(known)), Self::Add(more)) => {
                *known = sum(known, &more)?;
            }
            (Self::Append(known) | Self::Set(Value::Array(known)), Self::Append(more)) => {
                known.extend(more);
            }
            (Self::Merge(known), Self::Merge(more)) => known.extend(more),
            (Self::Set(Value::Object(known)), Self::Merge(more)) => {
                for (key, value) in more {
                    if value.is_null() {
                        known.remove(&key);
                    } else {
                        known.insert(key, value);
                    }
                }
            }
            (known, later) => {
                return Err(format!("{} cannot take {}", known.kind(), later.kind()));
            }
        }
        Ok(())
    }

    /// What this write says about an entry of a map: null if there is none, `None` if it says nothing.
    pub(super) fn entry(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Merge(entries) => entries.get(key),
            Self::Set(Value::Object(entries)) => Some(entries.get(key).unwrap_or(&NO_ENTRY)),
            _ => Some(&NO_ENTRY),
        }
    }

    /// Applies what this write says about the entries of a map to the set of its keys.
    pub(super) fn change_keys(&self, keys: &mut BTreeSet<String>) {
        match self {
            Self::Merge(entries) => {
                for (key, value) in entries {
                    if value.is_null() {
                        keys.remove(key);
                    } else {
                        keys.insert(key.clone());
                    }
                }
            }
            Self::Set(Value::Object(entries)) => *keys = entries.keys().cloned().collect(),
            _ => keys.clear(),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Set(Value::Array(_)) => "a list",
            Self::Set(Value::Object(_)) => "an object",
            Self::Set(Value::Number(_)) => "a number",
            Self::Set(_) => "a plain value",
            Self::Add(_) => "an addition",
            Self::Append(_) => "items to append",
            Self::Merge(_) => "entries to merge",
        }
    }
}

fn sum(one: &Number, other: &Number) -> Result<Number, String> {
    if let (Some(one), Some(other)) = (one.as_i128(), other.as_i128()) {
        let whole = Number::from_i128(one.saturating_add(other));
        return whole.ok_or_else(|| "the sum is too large".to_owned());
    }
    let parts = one.as_f64().zip(other.as_f64());
    let sum = parts.and_then(|(one, other)| Number::from_f64(one + other));
    sum.ok_or_else(|| "the sum is not a finite number".to_owned())
}

const RULES: [&str; 4] = ["$set", "$add", "$append", "$merge"];

/// Returns true if the value looks like a write with a rule.
fn looks_like_a_rule(value: &Value) -> bool {
    let fields = value.as_object().filter(|fields| fields.len() == 1);
    fields.is_some_and(|fields| fields.keys().any(|key| RULES.contains(&key.as_str())))
}

impl Serialize for FieldWrite {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Set(value) if looks_like_a_rule(value) => {
                json!({ "$set": value }).serialize(serializer)
            }
            Self::Set(value) => value.serialize(serializer),
            Self::Add(number) => json!({ "$add": number }).serialize(serializer),
            Self::Append(items) => json!({ "$append": items }).serialize(serializer),
            Self::Merge(entries) => json!({ "$merge": entries }).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FieldWrite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if !looks_like_a_rule(&value) {
            return Ok(Self::Set(value));
        }
        let Value::Object(fields) = value else {
            return Ok(Self::Set(value));
        };
        let mut fields = fields.into_iter();
        match fields.next() {
            Some((rule, value)) if rule == "$set" => Ok(Self::Set(value)),
            Some((rule, Value::Number(number))) if rule == "$add" => Ok(Self::Add(number)),
            Some((rule, Value::Array(items))) if rule == "$append" => Ok(Self::Append(items)),
            Some((rule, Value::Object(entries))) if rule == "$merge" => Ok(Self::Merge(entries)),
            Some((rule, _)) => Err(D::Error::custom(format!(
                "`{rule}` of a middleware field has a value of the wrong type"
            ))),
            None => Ok(Self::Set(Value::Null)),
        }
    }
}
