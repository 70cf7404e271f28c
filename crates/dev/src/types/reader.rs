//! Reads the types of a graph from its JSON Schemas.

use langgraph_server::ServedGraph;
use serde_json::{Map, Value};

use super::declaration::{Body, Declaration, Field, Type, Types};

/// Returns the types of a graph.
pub(super) fn read(name: &str, graph: &ServedGraph) -> Types {
    let schemas = graph.schemas();
    let prefix = pascal(name);
    let mut reader = Reader {
        prefix: prefix.clone(),
        root: String::new(),
        declarations: Vec::new(),
    };
    reader.declare_root(format!("{prefix}State"), &schemas.state);
    for (part, schema) in [("Input", &schemas.input), ("Output", &schemas.output)] {
        let name = format!("{prefix}{part}");
        if *schema == schemas.state {
            reader.declarations.push(Declaration {
                name,
                docs: None,
                body: Body::Alias(Type::Named(format!("{prefix}State"))),
            });
        } else {
            reader.declare_root(name, schema);
        }
    }
    let has_context = !schemas.context.is_null();
    if has_context {
        reader.declare_root(format!("{prefix}Context"), &schemas.context);
    }
    let nodes = &graph.topology().nodes;
    Types {
        graph: name.to_owned(),
        prefix,
        nodes: nodes.iter().map(|node| node.name.to_string()).collect(),
        declarations: reader.declarations,
        has_context,
    }
}

struct Reader {
    prefix: String,
    /// The type whose schema is read, which `#` refers to.
    root: String,
    declarations: Vec<Declaration>,
}

impl Reader {
    /// Declares the type of a whole schema.
    fn declare_root(&mut self, name: String, schema: &Value) {
        self.root.clone_from(&name);
        self.declare(name, schema);
    }

    /// Declares a type, and first those that it defines beside itself.
    fn declare(&mut self, name: String, schema: &Value) {
        for key in ["$defs", "definitions"] {
            for (of, schema) in schema
                .get(key)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                let name = self.defined(of);
                if !self.declarations.iter().any(|known| known.name == name) {
                    self.declare(name, schema);
                }
            }
        }
        let docs = text(schema, "description");
        let body = match schema.get("properties").and_then(Value::as_object) {
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
        properties
            .iter()
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
            return Type::Message;
        }
        if schema.get("properties").is_some_and(Value::is_object) {
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

/// True if the schema is more than its own properties.
fn combines(schema: &Value) -> bool {
    ["anyOf", "oneOf", "allOf", "$ref"]
        .iter()
        .any(|key| schema.get(*key).is_some())
}

fn union(types: Vec<Type>) -> Type {
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
fn pascal(name: &str) -> String {
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
