//! Conditions of searches on documents.

use serde_json::{Number, Value};

/// Returns true if a document holds what a search asks for, as PostgreSQL's `@>` says it: an object holds the entries,
/// a list holds the elements, in any order, and numbers are equal by their value. Null asks for nothing.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    part.is_null() || holds(whole, part)
}

fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(key, part)| whole.get(key).is_some_and(|whole| holds(whole, part))),
        (Value::Array(whole), Value::Array(part)) => part
            .iter()
            .all(|part| whole.iter().any(|whole| holds(whole, part))),
        (Value::Number(whole), Value::Number(part)) => are_equal(whole, part),
        (whole, part) => whole == part,
    }
}

/// A whole number beside a fraction is read as one: `1` equals `1.0`.
#[allow(clippy::float_cmp)] // equal numbers, not near ones
fn are_equal(one: &Number, other: &Number) -> bool {
    one == other || (one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_contains_what_postgresql_says_that_it_contains() {
        let whole = json!({
            "n": 1, "f": 1.5, "list": [1, "a", {"b": 2, "c": 3}, [4, 5]], "deep": {"a": {"b": null}}, "a.b": true,
        });
        for part in [
            json!(null),
            json!({}),
            json!({"n": 1.0}),
            json!({"f": 1.5, "a.b": true}),
            json!({"list": []}),
            json!({"list": ["a", 1.0, "a"]}),
            json!({"list": [{"b": 2}, [5]]}),
            json!({"deep": {"a": {}}}),
            json!({"deep": {"a": {"b": null}}}),
        ] {
            assert!(contains(&whole, &part), "{part}");
        }
        for part in [
            json!({"n": "1"}),
            json!({"n": true}),
            json!({"n": null}),
            json!({"gone": null}),
            json!({"list": 1}),
            json!({"list": [2]}),
            json!({"list": [4]}),
            json!({"list": {}}),
            json!({"deep": null}),
            json!({"a": {"b": true}}),
            json!([]),
        ] {
            assert!(!contains(&whole, &part), "{part}");
        }
        let large = json!({"n": (1_i64 << 53) + 1});
        assert!(!contains(&large, &json!({"n": 1_i64 << 53})));
    }
}
