//! JSON Schemas of states, from the types of their fields.

use langgraph::graph::Topology;
use serde_json::{Map, Value, json};

/// Returns the schema of a state. A type that this crate does not know allows every value.
pub(crate) fn state_schema(topology: &Topology) -> Value {
    let fields: Map<String, Value> = topology
        .fields
        .iter()
        .map(|field| (field.name.clone(), of_type(&field.ty)))
        .collect();
    json!({"type": "object", "title": topology.name, "properties": fields})
}

/// Returns the schema of a Rust type, such as `Option<Vec<String>>`.
pub(super) fn of_type(text: &str) -> Value {
    let text = text.trim();
    let (path, arguments) = match text.split_once('<') {
        Some((path, rest)) => (path.trim(), rest.trim_end().strip_suffix('>')),
        None => (text, None),
    };
    let arguments = arguments.map(split).unwrap_or_default();
    let argument = |index: usize| {
        arguments
            .get(index)
            .map_or_else(|| json!({}), |of| of_type(of))
    };
    match path.rsplit("::").next().unwrap_or_default().trim() {
        "String" | "str" | "char" | "PathBuf" => json!({"type": "string"}),
        "Uuid" => json!({"type": "string", "format": "uuid"}),
        "bool" => json!({"type": "boolean"}),
        "u8" | "u16" | "u32" | "u64" | "usize" => json!({"type": "integer", "minimum": 0}),
        "i8" | "i16" | "i32" | "i64" | "isize" => json!({"type": "integer"}),
        "f32" | "f64" => json!({"type": "number"}),
        "Option" => json!({"anyOf": [argument(0), {"type": "null"}]}),
        "Box" | "Arc" => argument(0),
        "Vec" | "VecDeque" | "HashSet" | "BTreeSet" => {
            json!({"type": "array", "items": argument(0)})
        }
        "HashMap" | "BTreeMap" => json!({"type": "object", "additionalProperties": argument(1)}),
        "Message" => message(),
        _ => json!({}),
    }
}

/// Splits the arguments of a type at the commas between them.
fn split(arguments: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, letter) in arguments.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(arguments.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(arguments.get(start..));
    parts
}

/// The schema of a message in LangChain's form, as clients may send it.
fn message() -> Value {
    json!({
        "type": "object", "title": "Message",
        "properties": {
            "type": {"type": "string", "enum": ["human", "ai", "system", "tool", "remove"]},
            "content": {"anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}},
            ]},
            "id": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "tool_calls": {"type": "array", "items": {"type": "object"}},
            "tool_call_id": {"type": "string"},
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_schemas() {
        let text = json!({"type": "string"});
        for (of, expected) in [
            ("String", text.clone()),
            ("std :: string :: String", text.clone()),
            ("Vec < String >", json!({"type": "array", "items": text})),
            (
                "Option<Option<bool>>",
                json!({"anyOf": [
                    {"anyOf": [{"type": "boolean"}, {"type": "null"}]}, {"type": "null"},
                ]}),
            ),
            (
                "BTreeMap<String, Vec<HashMap<String, f64>>>",
                json!({"type": "object", "additionalProperties": {
                    "type": "array",
                    "items": {"type": "object", "additionalProperties": {"type": "number"}},
                }}),
            ),
            ("u8", json!({"type": "integer", "minimum": 0})),
            ("Plan<String>", json!({})),
            ("", json!({})),
            ("Vec<", json!({"type": "array", "items": {}})),
        ] {
            assert_eq!(of_type(of), expected, "{of}");
        }
        assert_eq!(of_type("Vec<Message>")["items"]["title"], "Message");
    }
}
