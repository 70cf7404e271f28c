//! Types in TypeScript.

use std::fmt::Write as _;

use serde_json::Value;

use super::declaration::{Body, Declaration, Part, Type, Types};

/// Returns the text of the file.
pub(super) fn write(all: &[Types]) -> String {
    let mut text = "// Written by `cargo langgraph types`. Do not edit.\n".to_owned();
    let mut declarations = all.iter().flat_map(|types| &types.declarations);
    if declarations.any(|declaration| declaration.has(&|ty| matches!(ty, Type::Message(_)))) {
        text.push_str("\nimport type { Message } from \"@langchain/langgraph-sdk\";\n");
    }
    for types in all {
        let _ = writeln!(text, "\n/** The nodes of the graph `{}`. */", types.graph);
        let nodes: Vec<String> = types.nodes.iter().map(|node| quoted(node)).collect();
        let _ = writeln!(
            text,
            "export type {}Node = {};",
            types.prefix,
            joined(&nodes, " | ", "never")
        );
        for declaration in &types.declarations {
            text.push('\n');
            declare(&mut text, declaration);
        }
        types_of_hook(&mut text, types);
    }
    text
}

/// The types that `useStream` is given beside the state.
fn types_of_hook(text: &mut String, types: &Types) {
    let Types { prefix, .. } = types;
    let _ = write!(
        text,
        "\n/** The second argument of `useStream`, after `{prefix}State`. */\n\
         export interface {prefix}Types {{\n  UpdateType: {prefix}Input;\n"
    );
    if types.has(Part::Context) {
        let _ = writeln!(
            text,
            "  ConfigurableType: {prefix}Context & Record<string, unknown>;"
        );
    }
    let interrupts = [
        (
            Part::Questions,
            format!("{prefix}Questions[keyof {prefix}Questions]"),
        ),
        (Part::Approvals, format!("{prefix}ToolApproval")),
    ];
    let interrupts: Vec<String> = interrupts
        .into_iter()
        .filter_map(|(part, ty)| types.has(part).then_some(ty))
        .collect();
    if !interrupts.is_empty() {
        let _ = writeln!(text, "  InterruptType: {};", interrupts.join(" | "));
    }
    if types.has(Part::Event) {
        let _ = writeln!(text, "  CustomEventType: {prefix}Event;");
    }
    text.push_str("}\n");
}

fn declare(text: &mut String, declaration: &Declaration) {
    docs(text, "", declaration.docs.as_deref());
    let name = &declaration.name;
    match &declaration.body {
        Body::Alias(ty) => {
            let _ = writeln!(text, "export type {name} = {};", shown(ty));
        }
        Body::Object(fields) if fields.is_empty() => {
            // An interface without fields would take every object.
            let _ = writeln!(text, "export type {name} = Record<string, never>;");
        }
        Body::Object(fields) => {
            let _ = writeln!(text, "export interface {name} {{");
            for field in fields {
                docs(text, "  ", field.docs.as_deref());
                let mark = if field.required { "" } else { "?" };
                let key = if is_identifier(&field.name) {
                    field.name.clone()
                } else {
                    quoted(&field.name)
                };
                let _ = writeln!(text, "  {key}{mark}: {};", shown(&field.ty));
            }
            text.push_str("}\n");
        }
    }
}

fn docs(text: &mut String, indent: &str, docs: Option<&str>) {
    let Some(docs) = docs else { return };
    let docs = docs.replace("*/", "*\\/");
    if docs.contains('\n') {
        let _ = writeln!(text, "{indent}/**");
        for line in docs.lines() {
            text.push_str(format!("{indent} * {line}").trim_end());
            text.push('\n');
        }
        let _ = writeln!(text, "{indent} */");
    } else {
        let _ = writeln!(text, "{indent}/** {docs} */");
    }
}

fn shown(ty: &Type) -> String {
    match ty {
        Type::Any => "unknown".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer | Type::Number => "number".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Literals(values) => {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            joined(&values, " | ", "never")
        }
        Type::List(of) => match **of {
            Type::Union(_) | Type::All(_) | Type::Literals(_) => format!("({})[]", shown(of)),
            _ => format!("{}[]", shown(of)),
        },
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(shown).collect();
            format!("[{}]", parts.join(", "))
        }
        Type::Map(of) => format!("Record<string, {}>", shown(of)),
        Type::Union(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match part {
                    Type::All(_) => format!("({})", shown(part)),
                    _ => shown(part),
                })
                .collect();
            parts.join(" | ")
        }
        Type::All(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match part {
                    Type::Union(_) | Type::Literals(_) => format!("({})", shown(part)),
                    _ => shown(part),
                })
                .collect();
            parts.join(" & ")
        }
        Type::Named(name) => name.clone(),
        Type::Message(None) => "Message".to_owned(),
        Type::Message(Some(calls)) => format!("Message<{calls}>"),
    }
}

fn joined(parts: &[String], separator: &str, empty: &str) -> String {
    if parts.is_empty() {
        empty.to_owned()
    } else {
        parts.join(separator)
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
