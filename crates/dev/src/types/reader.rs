//! Reads types from JSON Schemas.

use serde_json::{Map, Value};

use super::declaration::{Body, Declaration, Field, Type};

/// Declares the types of one graph.
pub(super) struct Reader {
    /// What the names of all types begin with.
    pub(super) prefix: String,
    /// The type whose schema is read, which `#` refers to.
    root: String,
    /// The type of the tool calls in messages, if the tools are known.
    pub(super) tool_call: Option<String>,
    pub(super) declarations: Vec<Declaration>,
}

impl Reader {
    pub(super) fn new(prefix: String) -> Self {
        Self {
            prefix,
            root: String::new(),
            tool_call: None,
            declarations: Vec::new(),
        }
    }

    /// Returns the type of a whole schema. One of several fields is declared as `name`.
    pub(super) fn root_type(&mut self, name: String, schema: &Value) -> Type {
        let is_declared = ["properties", "$defs", "definitions"]
            .iter()
            .any(|key| schema.get(*key).is_some());
        if is_declared {
            self.declare_root(name.clone(), schema);
            return Type::Named(name);
        }
        self.root.clone_from(&name);
        self.ty(&name, schema)
    }

    /// Declares the type of a whole schema.
    pub(super) fn declare_root(&mut self, name: String, schema: &Value) {
        self.root.clone_from(&name);
        self.declare(name, schema);
    }

    /// Declares a type, and first those that it defines beside itself.
    fn declare(&mut self, name: String, schema: &Value) {
        for key in ["$defs", "definitions"] {
            let defined = schema.get(key).and_then(Value::as_object);
            for (of, schema) in sorted(defined.into_iter().flatten()) {
                let name = self.defined(of);
                if !self.declarations.iter().any(|known| known.name == name) {
                    self.declare(name, schema);
                }
            }
        }
        let docs = text(schema, "description");
        let body = match own_fields(schema) {
            Some(properties) if !combines(schema) => {
                Body::Object(self.fields(&name, schema, properties))
            }
            _ => Body::Alias(self.ty(&name, schema)),
        };
        self.declarations.push(Declaration { name, docs, body });
    }

    /// Returns the name of a type under `$defs`.
    fn defined(&self, name: &str) -> String {
        format!("{}{}", self.prefix, pascal(name))
    }

    fn fields(&mut self, of: &str, schema: &Value, properties: &Map<String, Value>) -> Vec<Field> {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        sorted(properties)
            .into_iter()
            .map(|(name, schema)| Field {
                name: name.clone(),
                docs: text(schema, "description"),
                ty: self.ty(&format!("{of}{}", pascal(name)), schema),
                required: required.contains(&name.as_str()),
            })
            .collect()
    }

    /// Returns the type of a schema. An object in it is declared as `name`.
    fn ty(&mut self, name: &str, schema: &Value) -> Type {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return Type::Named(match reference.rsplit_once('/') {
                Some((_, of)) => self.defined(of),
                None => self.root.clone(),
            });
        }
        if let Some(value) = schema.get("const") {
            return Type::Literals(vec![value.clone()]);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return Type::Literals(values.clone());
        }
        for (key, combine) in [
            ("anyOf", union as fn(Vec<Type>) -> Type),
            ("oneOf", union),
            ("allOf", all),
        ] {
            if let Some(parts) = schema.get(key).and_then(Value::as_array) {
                let named = |index: usize| match parts.len() {
                    1 => name.to_owned(),
                    _ => format!("{name}{}", index + 1),
                };
                let parts = parts.iter().enumerate();
                return combine(
                    parts
                        .map(|(index, part)| self.ty(&named(index), part))
                        .collect(),
                );
            }
        }
        match schema.get("type") {
            Some(Value::Array(types)) => union(
                types
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|ty| self.of_kind(ty, name, schema))
                    .collect(),
            ),
            Some(Value::String(ty)) => self.of_kind(ty, name, schema),
            _ => Type::Any,
        }
    }

    fn of_kind(&mut self, kind: &str, name: &str, schema: &Value) -> Type {
        match kind {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "string" => Type::Text,
            "array" => self.list(name, schema),
            "object" => self.object(name, schema),
            _ => Type::Any,
        }
    }

    fn list(&mut self, name: &str, schema: &Value) -> Type {
        if let Some(parts) = schema.get("prefixItems").and_then(Value::as_array) {
            let parts = parts.iter().enumerate();
            let parts = parts.map(|(index, part)| self.ty(&format!("{name}{}", index + 1), part));
            return Type::Tuple(parts.collect());
        }
        let items = schema.get("items");
        Type::List(Box::new(
            items.map_or(Type::Any, |items| self.ty(&format!("{name}Item"), items)),
        ))
    }

    fn object(&mut self, name: &str, schema: &Value) -> Type {
        if schema.get("title").and_then(Value::as_str) == Some("Message") {
            return Type::Message(self.tool_call.clone());
        }
        if own_fields(schema).is_some() {
            self.declare(name.to_owned(), schema);
            return Type::Named(name.to_owned());
        }
        let values = schema.get("additionalProperties");
        let values = values.filter(|values| values.is_object());
        Type::Map(Box::new(values.map_or(Type::Any, |values| {
            self.ty(&format!("{name}Value"), values)
        })))
    }
}

/// Returns the entries in the order of their names: that of an object depends on a feature of `serde_json`, which any
/// crate of the program may turn on.
fn sorted<'a>(
    entries: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> Vec<(&'a String, &'a Value)> {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    entries
}

/// Returns the fields of an object, unless it is a map.
fn own_fields(schema: &Value) -> Option<&Map<String, Value>> {
    let fields = schema.get("properties")?.as_object()?;
    let is_map = fields.is_empty()
        && schema
            .get("additionalProperties")
            .is_some_and(Value::is_object);
    (!is_map).then_some(fields)
}

/// True if the schema is more than its own properties.
fn combines(schema: &Value) -> bool {
    ["anyOf", "oneOf", "allOf", "$ref"]
        .iter()
        .any(|key| schema.get(*key).is_some())
}

pub(super) fn union(types: Vec<Type>) -> Type {
    let mut parts: Vec<Type> = Vec::new();
    for ty in types {
        let inner = match ty {
            Type::Union(inner) => inner,
            other => vec![other],
        };
        for ty in inner {
            if !parts.contains(&ty) {
                parts.push(ty);
            }
        }
    }
    if parts.contains(&Type::Any) {
        return Type::Any;
    }
    single(parts, Type::Union)
}

fn all(types: Vec<Type>) -> Type {
    let parts = types.into_iter().filter(|ty| *ty != Type::Any).collect();
    single(parts, Type::All)
}

fn single(mut parts: Vec<Type>, of_several: fn(Vec<Type>) -> Type) -> Type {
    match parts.len() {
        0 => Type::Any,
        1 => parts.remove(0),
        _ => of_several(parts),
    }
}

fn text(schema: &Value, key: &str) -> Option<String> {
    schema.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns a name as that of a type: `my-agent` is `MyAgent`.
pub(super) fn pascal(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let joined: String = words
        .flat_map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters)
        })
        .collect();
    match joined.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("_{joined}"),
        None => "_".to_owned(),
        _ => joined,
    }
}
