//! JSON schemas for models, and parsing of arguments.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ToolError;

/// Returns the JSON schema of `T`, in the form that model providers take.
///
/// Doc comments become descriptions. The schema is in one piece (no `$ref`, except in a recursive
/// type). It has no `$schema`, no titles and no number formats, which several providers refuse.
///
/// # Examples
///
/// ```
/// use langgraph_agent::schema_of;
/// use schemars::JsonSchema;
/// use serde_json::json;
///
/// #[derive(JsonSchema)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     b: Option<i64>,
/// }
///
/// assert_eq!(schema_of::<Add>(), json!({
///     "type": "object",
///     "properties": {
///         "a": {"type": "integer", "description": "The first number."},
///         "b": {"type": ["integer", "null"]},
///     },
///     "required": ["a"],
/// }));
/// ```
pub fn schema_of<T: JsonSchema + ?Sized>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    tidy(&mut schema);
    if let Value::Object(object) = &mut schema
        && object.get("type").and_then(Value::as_str) == Some("object")
    {
        // A tool without arguments: some providers insist on the key.
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    schema
}

/// Removes what providers refuse. Visits only the places where JSON schema keeps schemas, so a
/// property called `title` stays.
fn tidy(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    schema.remove("title");
    let number = |ty: &Value| matches!(ty.as_str(), Some("integer" | "number"));
    let numeric = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(number),
        Some(ty) => number(ty),
        None => false,
    };
    if numeric {
        schema.remove("format");
    }
    for (key, value) in schema {
        match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "dependentSchemas",
                Value::Object(map),
            ) => {
                map.values_mut().for_each(tidy);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter_mut().for_each(tidy);
            }
            (
                "items"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                value,
            ) => tidy(value),
            _ => {}
        }
    }
}

/// Parses the arguments of a call. The error says where they are wrong.
pub(super) fn arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        ToolError::Arguments(if path == "." {
            error.to_string()
        } else {
            format!("{path}: {error}")
        })
    })
}
