//! Types in Python: typed dictionaries.

use std::fmt::Write as _;

use serde_json::Value;

use super::declaration::{Body, Declaration, Field, Type, Types};

/// Words that cannot be the name of a field in a class.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Returns the text of the file.
pub(super) fn write(all: &[Types]) -> String {
    let mut text = "\
# Written by `cargo langgraph types`. Do not edit.

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

from typing_extensions import Required

# A message in LangChain's form.
Message = Dict[str, Any]
"
    .to_owned();
    for types in all {
        let _ = writeln!(text, "\n# The nodes of the graph `{}`.", types.graph);
        let nodes: Vec<Value> = types
            .nodes
            .iter()
            .map(|node| node.as_str().into())
            .collect();
        let _ = writeln!(
            text,
            "{}Node = {}",
            types.prefix,
            shown(&Type::Literals(nodes))
        );
        for declaration in &types.declarations {
            text.push_str("\n\n");
            declare(&mut text, declaration);
        }
    }
    text
}

fn declare(text: &mut String, declaration: &Declaration) {
    let name = &declaration.name;
    match &declaration.body {
        Body::Alias(ty) => {
            comment(text, "", declaration.docs.as_deref());
            // An alias cannot name itself.
            let is_self = |ty: &Type| matches!(ty, Type::Named(of) if of == name);
            let is_recursive = declaration.has(&is_self);
            let ty = if is_recursive { &Type::Any } else { ty };
            let _ = writeln!(text, "{name} = {}", shown(ty));
        }
        Body::Object(fields) if fields.iter().all(|field| can_be_attribute(&field.name)) => {
            let _ = writeln!(text, "class {name}(TypedDict, total=False):");
            if let Some(docs) = &declaration.docs {
                let _ = writeln!(text, "    {}\n", docstring(docs));
            }
            for field in fields {
                comment(text, "    ", field.docs.as_deref());
                let _ = writeln!(text, "    {}: {}", field.name, of_field(field));
            }
            if fields.is_empty() {
                text.push_str("    pass\n");
            }
        }
        Body::Object(fields) => {
            comment(text, "", declaration.docs.as_deref());
            let _ = writeln!(text, "{name} = TypedDict(\"{name}\", {{");
            for field in fields {
                let key = Value::from(field.name.as_str());
                let _ = writeln!(text, "    {key}: \"{}\",", of_field(field));
            }
            text.push_str("}, total=False)\n");
        }
    }
}

fn of_field(field: &Field) -> String {
    let ty = shown(&field.ty);
    if field.required {
        format!("Required[{ty}]")
    } else {
        ty
    }
}

fn docstring(docs: &str) -> String {
    let docs = docs.replace('\\', "\\\\").replace('"', "\\\"");
    let lines: Vec<&str> = docs.lines().collect();
    let docs = lines.join("\n    ").replace("\n    \n", "\n\n");
    format!("\"\"\"{docs}\"\"\"")
}

fn comment(text: &mut String, indent: &str, docs: Option<&str>) {
    for line in docs.unwrap_or_default().lines() {
        text.push_str(format!("{indent}# {line}").trim_end());
        text.push('\n');
    }
}

fn shown(ty: &Type) -> String {
    match ty {
        Type::Any => "Any".to_owned(),
        Type::Null => "None".to_owned(),
        Type::Boolean => "bool".to_owned(),
        Type::Integer => "int".to_owned(),
        Type::Number => "float".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Literals(values) => literals(values),
        Type::List(of) => format!("List[{}]", shown(of)),
        Type::Tuple(parts) => format!("Tuple[{}]", listed(parts)),
        Type::Map(of) => format!("Dict[str, {}]", shown(of)),
        Type::Union(parts) => format!("Union[{}]", listed(parts)),
        // Python has no type for this.
        Type::All(parts) => match parts.as_slice() {
            [only] => shown(only),
            _ => "Any".to_owned(),
        },
        Type::Named(name) => name.clone(),
        Type::Message(_) => "Message".to_owned(),
    }
}

fn literals(values: &[Value]) -> String {
    let mut shown = Vec::new();
    for value in values {
        shown.push(match value {
            Value::Null => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::String(_) => value.to_string(),
            Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
            // Python allows no other literals.
            _ => return "Any".to_owned(),
        });
    }
    if shown.is_empty() {
        return "Any".to_owned();
    }
    format!("Literal[{}]", shown.join(", "))
}

fn listed(parts: &[Type]) -> String {
    let parts: Vec<String> = parts.iter().map(shown).collect();
    parts.join(", ")
}

fn can_be_attribute(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !name.starts_with("__")
        && !KEYWORDS.contains(&name)
}
