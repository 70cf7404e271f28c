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

/// How deep a schema is followed. A reference to itself without a value in between would have no end.
const DEPTH: usize = 64;

/// Compares arguments with a schema, at every depth: required properties, types, enumerations and alternatives.
pub(super) fn check(schema: &Value, arguments: &Value) -> Result<(), String> {
    if !arguments.is_object() {
        return Err("the arguments are not a JSON object".to_owned());
    }
    Checked { root: schema }.value(schema, arguments, DEPTH)
}

/// A schema with its definitions, to which its parts refer.
#[derive(Clone, Copy)]
struct Checked<'a> {
    root: &'a Value,
}

impl<'a> Checked<'a> {
    fn value(self, schema: &Value, value: &Value, depth: usize) -> Result<(), String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(());
        };
        if let Some(referred) = self.referred(schema) {
            self.value(referred, value, depth)?;
        }
        for form in forms(schema, "allOf") {
            self.value(form, value, depth)?;
        }
        for alternatives in ["anyOf", "oneOf"] {
            let mut tried = forms(schema, alternatives).map(|form| self.value(form, value, depth));
            if let Some(Err(why)) = tried.next()
                && !tried.any(|other| other.is_ok())
            {
                return Err(why);
            }
        }
        check_type(schema, value)?;
        match value {
            Value::Object(fields) => self.fields(schema, fields, depth),
            Value::Array(items) => {
                let Some(item) = schema.get("items") else {
                    return Ok(());
                };
                let mut items = items.iter().enumerate();
                items.try_for_each(|(index, value)| {
                    let checked = self.value(item, value, depth);
                    checked.map_err(|why| format!("[{index}]: {why}"))
                })
            }
            _ => Ok(()),
        }
    }

    fn fields(
        self,
        schema: &Value,
        given: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), String> {
        for name in forms(schema, "required").filter_map(Value::as_str) {
            if !given.contains_key(name) {
                return Err(format!("missing field `{name}`"));
            }
        }
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, value) in given {
            match schema.get("properties").and_then(|known| known.get(name)) {
                Some(property) => {
                    let checked = self.value(property, value, depth);
                    checked.map_err(|why| format!("{name}: {why}"))?;
                }
                None if closed => return Err(format!("unknown field `{name}`")),
                None => {}
            }
        }
        Ok(())
    }

    /// Returns the definition that a schema refers to, if it is one of the same schema.
    fn referred(self, schema: &Value) -> Option<&'a Value> {
        let reference = schema.get("$ref")?.as_str()?;
        self.root.pointer(reference.strip_prefix('#')?)
    }
}

/// Returns the items of a list in a schema.
fn forms<'a>(schema: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    let list = schema.get(list).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn check_type(schema: &Value, value: &Value) -> Result<(), String> {
    let fits = |ty: &str| match ty {
        "string" => value.is_string(),
        // JSON Schema knows no other number than 3.0 for 3.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
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
