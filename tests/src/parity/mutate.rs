//! Changes one leaf of an expectation: a comparison that does not notice it is worthless.

use fastrand::Rng;
use serde_json::{Map, Value};

/// The expectation with one leaf changed at random.
pub(super) fn mutate(expectation: &Value, rng: &mut Rng) -> Value {
    let mut mutated = expectation.clone();
    let failed = expectation.get("build_error").is_some();
    let compared = if failed { "build_error" } else { "results" };
    if let Some(part) = mutated.get_mut(compared) {
        let leaves = count(part);
        change(part, &mut rng.usize(..leaves.max(1)));
    }
    mutated
}

/// A value without parts is one leaf.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(count).sum(),
        Value::Object(map) if !map.is_empty() => map.values().map(count).sum(),
        _ => 1,
    }
}

/// Changes the leaf that comes after `skip` others. True when it was in here.
fn change(value: &mut Value, skip: &mut usize) -> bool {
    match value {
        Value::Array(items) if !items.is_empty() => {
            return items.iter_mut().any(|item| change(item, skip));
        }
        Value::Object(map) if !map.is_empty() => {
            return map.values_mut().any(|value| change(value, skip));
        }
        _ => {}
    }
    if *skip > 0 {
        *skip -= 1;
        return false;
    }
    *value = other(value);
    true
}

/// Any value but this one.
fn other(value: &Value) -> Value {
    match value {
        Value::Null => Value::from("mutated"),
        Value::Bool(flag) => Value::from(!flag),
        Value::Number(number) => number
            .as_i64()
            .and_then(|number| number.checked_add(1))
            .map_or(Value::Null, Value::from),
        Value::String(text) => Value::from(format!("{text}~")),
        Value::Array(_) => Value::Array(vec![Value::from("mutated")]),
        Value::Object(_) => Value::Object(Map::from_iter([("mutated".to_owned(), Value::Null)])),
    }
}
