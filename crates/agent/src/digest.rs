//! Digests of JSON values.

use std::fmt::Write as _;

use serde_json::Value;

/// Returns the SHA-256 digest of a value in hexadecimal. The order of an object's keys does not
/// matter.
pub(crate) fn digest(value: &Value) -> String {
    let mut text = String::new();
    canonical(value, &mut text);
    let mut digest = String::with_capacity(64);
    for byte in hmac_sha256::Hash::hash(text.as_bytes()) {
        let _ = write!(digest, "{byte:02x}"); // writing to a String never fails
    }
    digest
}

/// Writes a value with sorted keys.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in fields {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter_and_everything_else_does() {
        let one: Value =
            serde_json::from_str(r#"{"a": 1, "b": {"c": [1, 2], "d": null}}"#).unwrap();
        let same: Value =
            serde_json::from_str(r#"{"b": {"d": null, "c": [1, 2]}, "a": 1}"#).unwrap();
        assert_eq!(digest(&one), digest(&same));
        for other in [
            json!({"a": 1}),
            json!({"a": "1"}),
            json!(["a", 1]),
            json!({"a": [[1], 2]}),
        ] {
            assert_ne!(digest(&one), digest(&other));
        }
        assert_ne!(digest(&json!([[1], 2])), digest(&json!([1, [2]])));
        // `printf '"abc"' | sha256sum`
        assert_eq!(
            digest(&json!("abc")),
            "6cc43f858fbb763301637b5af970e2a46b46f461f27e5a0f41e009c59b827b25"
        );
    }
}
