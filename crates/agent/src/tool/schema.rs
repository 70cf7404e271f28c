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

/// Checks that arguments are a `T`.
pub(super) fn check_as<T: DeserializeOwned>(value: &Value) -> Result<(), String> {
    match arguments::<T>(value.clone()) {
        Ok(_) => Ok(()),
        Err(ToolError::Arguments(error)) => Err(error),
        Err(error) => Err(error.to_string()),
    }
}

/// Compares arguments with a schema: required properties, types and enumerations.
pub(super) fn check(schema: &Value, arguments: &Value) -> Result<(), String> {
    let Value::Object(given) = arguments else {
        return Err("the arguments are not a JSON object".to_owned());
    };
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !given.contains_key(name) {
            return Err(format!("missing field `{name}`"));
        }
    }
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, value) in given {
        match schema.get("properties").and_then(|known| known.get(name)) {
            Some(property) => {
                check_value(property, value).map_err(|why| format!("{name}: {why}"))?;
            }
            None if closed => return Err(format!("unknown field `{name}`")),
            None => {}
        }
    }
    Ok(())
}

fn check_value(schema: &Value, value: &Value) -> Result<(), String> {
    let fits = |ty: &str| match ty {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    };
    let types: Vec<_> = match schema.get("type") {
        Some(Value::String(ty)) => vec![ty.as_str()],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|ty| fits(ty)) {
        return Err(format!("expected {}, not `{value}`", types.join(" or ")));
    }
    match schema.get("enum").and_then(Value::as_array) {
        Some(values) if !values.contains(value) => {
            let values: Vec<_> = values.iter().map(Value::to_string).collect();
            Err(format!("`{value}` is none of {}", values.join(", ")))
        }
        _ => Ok(()),
    }
}
