//! Compares answers with expectations.

use serde_json::{Map, Number, Value};

use super::expr::{canonical, same};

/// Compares the answers of a case with an expectation: either a `build_error`, or `results`.
///
/// # Errors
///
/// The first difference: where it is, what was expected and what was found.
pub(super) fn compare(expected: &Value, found: &Value) -> Result<(), String> {
    match (expected.get("build_error"), found.get("build_error")) {
        (None, None) => {}
        (expected, found) => {
            let kind = |error: Option<&Value>| error.and_then(|error| error.get("kind")).cloned();
            return equal("build_error.kind", &kind(expected), &kind(found));
        }
    }
    let none = Vec::new();
    let list = |value: &Value| value.get("results").and_then(Value::as_array).cloned();
    let expected = list(expected).ok_or("the expectation has no results")?;
    let found = list(found).unwrap_or(none);
    if expected.len() != found.len() {
        return Err(format!(
            "{} results expected, found {}",
            expected.len(),
            found.len()
        ));
    }
    for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
        result(&format!("results[{index}]"), expected, found)?;
    }
    Ok(())
}

fn equal<T: PartialEq + std::fmt::Debug>(
    place: &str,
    expected: &T,
    found: &T,
) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{place}: expected {expected:?}, found {found:?}"))
    }
}

fn result(place: &str, expected: &Value, found: &Value) -> Result<(), String> {
    let (Value::Object(expected), Value::Object(found)) = (expected, found) else {
        return value(place, expected, found);
    };
    for (key, expected) in expected {
        let place = format!("{place}.{key}");
        let Some(found) = found.get(key) else {
            let all = canonical(&Value::Object(found.clone()));
            return Err(format!("{place}: nothing found, but {all}"));
        };
        match key.as_str() {
            "chunks" => chunks(&place, expected, found)?,
            "error" => error(&place, expected, found)?,
            _ => value(&place, expected, found)?,
        }
    }
    match found.iter().find(|(key, _)| !expected.contains_key(*key)) {
        Some((key, found)) => Err(format!("{place}.{key}: not expected: {found}")),
        None => Ok(()),
    }
}

/// The kind, and the message where one is expected.
fn error(place: &str, expected: &Value, found: &Value) -> Result<(), String> {
    let relevant = |error: &Value| -> Value {
        let keep = |(key, _): &(&String, &Value)| *key == "kind" || expected.get(key).is_some();
        let kept = error.as_object().into_iter().flatten().filter(keep);
        kept.map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Map<_, _>>()
            .into()
    };
    value(place, &relevant(expected), &relevant(found)).map_err(|what| format!("{what} ({found})"))
}

/// Expected chunks come in groups; within a group any order is valid.
fn chunks(place: &str, expected: &Value, found: &Value) -> Result<(), String> {
    let groups = expected.as_array().ok_or("`chunks` is no list")?;
    // The groups of the answer do not matter.
    let found = found.as_array().ok_or("no chunks")?.iter();
    let found: Vec<Value> = found
        .flat_map(|group| group.as_array().cloned().unwrap_or_default())
        .collect();
    let mut found = found.as_slice();
    for (index, group) in groups.iter().enumerate() {
        let group = group.as_array().ok_or("a group of chunks is no list")?;
        let size = group.len().min(found.len());
        let (piece, rest) = found.split_at(size);
        found = rest;
        let (expected, piece) = (multiset(group), multiset(piece));
        if expected != piece {
            return Err(format!(
                "{place}[{index}]: expected {}, found {}",
                expected.join(" and "),
                if piece.is_empty() {
                    "nothing".to_owned()
                } else {
                    piece.join(" and ")
                },
            ));
        }
    }
    match found.first() {
        Some(extra) => Err(format!("{place}: not expected: {}", canonical(extra))),
        None => Ok(()),
    }
}

fn multiset(chunks: &[Value]) -> Vec<String> {
    let mut texts: Vec<_> = chunks
        .iter()
        .map(|chunk| canonical(&plain(chunk)))
        .collect();
    texts.sort();
    texts
}

/// Returns the value with whole numbers in integer form.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number).unwrap_or_else(|| number.clone())),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    format!("{float:.0}")
        .parse::<i64>()
        .ok()
        .filter(|_| float.fract() == 0.0)
        .map(Number::from)
}

/// Finds the first difference of two values.
fn value(place: &str, expected: &Value, found: &Value) -> Result<(), String> {
    if same(expected, found) {
        return Ok(());
    }
    match (expected, found) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, expected) in left {
                let place = format!("{place}.{key}");
                match right.get(key) {
                    Some(found) => value(&place, expected, found)?,
                    None => return Err(format!("{place}: expected {expected}, found nothing")),
                }
            }
            let extra = right.iter().find(|(key, _)| !left.contains_key(*key));
            extra.map_or(Ok(()), |(key, found)| {
                Err(format!("{place}.{key}: not expected: {found}"))
            })
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let pairs = left.iter().zip(right).enumerate();
            for (index, (expected, found)) in pairs {
                value(&format!("{place}[{index}]"), expected, found)?;
            }
            Ok(())
        }
        _ => Err(format!("{place}: expected {expected}, found {found}")),
    }
}

/// Returns interrupts in the format's order.
pub(super) fn sorted(mut payloads: Vec<Value>) -> Value {
    payloads.sort_by_key(canonical);
    Value::Array(payloads)
}
