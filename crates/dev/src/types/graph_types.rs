//! The types of one graph.

use std::collections::BTreeMap;

use langgraph::graph::ToolInfo;
use langgraph_server::{InterruptSchema, ServedGraph};
use serde_json::Value;

use super::approvals::approvals;
use super::declaration::{Body, Declaration, Field, Part, Type, Types};
use super::reader::{Reader, pascal, union};

/// Returns the types of a graph.
pub(super) fn read(name: &str, graph: &ServedGraph) -> Types {
    let schemas = graph.schemas();
    let prefix = pascal(name);
    let mut reader = Reader::new(prefix.clone());
    let mut parts = Vec::new();
    // The types of messages name them.
    let tools = graph.topology().tools();
    tool_calls(&mut reader, &tools);
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
    if !schemas.context.is_null() {
        parts.push(Part::Context);
        reader.declare_root(format!("{prefix}Context"), &schemas.context);
    }
    if !schemas.interrupts.is_empty() {
        parts.push(Part::Questions);
        questions(&mut reader, name, &schemas.interrupts);
    }
    let answered = approvals(&mut reader, &tools);
    if answered.is_some() {
        parts.push(Part::Approvals);
    }
    if custom_events(&mut reader, name, &schemas.custom_event, &tools, answered) {
        parts.push(Part::Event);
    }
    let nodes = &graph.topology().nodes;
    Types {
        graph: name.to_owned(),
        prefix,
        nodes: nodes.iter().map(|node| node.name.to_string()).collect(),
        declarations: reader.declarations,
        parts,
    }
}

/// Declares the interrupts and their answers, by their keys.
fn questions(reader: &mut Reader, graph: &str, interrupts: &BTreeMap<String, InterruptSchema>) {
    let prefix = reader.prefix.clone();
    let (mut questions, mut answers) = (Vec::new(), Vec::new());
    for (key, schema) in interrupts {
        let name = format!("{prefix}{}", pascal(key));
        let question = reader.root_type(format!("{name}Question"), &schema.question);
        questions.push(Field::required(key, question));
        let answer = reader.root_type(format!("{name}Answer"), &schema.answer);
        answers.push(Field::required(key, answer));
    }
    reader.declarations.push(Declaration::new(
        format!("{prefix}Questions"),
        format!("What the graph `{graph}` asks, by the keys of its interrupts."),
        Body::Object(questions),
    ));
    reader.declarations.push(Declaration::new(
        format!("{prefix}Answers"),
        format!("What `{prefix}Questions` are answered with."),
        Body::Object(answers),
    ));
}

/// Declares the custom events: those of nodes, those of tools, and that which reports the answer to an approval. Returns
/// false if there are none.
fn custom_events(
    reader: &mut Reader,
    graph: &str,
    of_nodes: &Value,
    tools: &[ToolInfo],
    answered: Option<Type>,
) -> bool {
    let prefix = reader.prefix.clone();
    let emitting = tools.iter().filter(|tool| !tool.custom_events.is_empty());
    let mut others: Vec<Type> = emitting
        .map(|tool| {
            let schema = serde_json::from_str(&tool.custom_events).unwrap_or_default();
            reader.root_type(format!("{prefix}{}Event", pascal(&tool.name)), &schema)
        })
        .collect();
    others.extend(answered);
    if others.is_empty() {
        if !of_nodes.is_null() {
            reader.declare_root(format!("{prefix}Event"), of_nodes);
        }
        return !of_nodes.is_null();
    }
    let mut events = Vec::new();
    if !of_nodes.is_null() {
        events.push(reader.root_type(format!("{prefix}NodeEvent"), of_nodes));
    }
    events.extend(others);
    reader.declarations.push(Declaration::new(
        format!("{prefix}Event"),
        format!(
            "A custom event of the graph `{graph}`: of a node, of a tool, or the answer to an approval."
        ),
        Body::Alias(union(events)),
    ));
    true
}

/// Declares the calls of the graph's tools.
fn tool_calls(reader: &mut Reader, tools: &[ToolInfo]) {
    let mut calls = Vec::new();
    for tool in tools {
        let name = format!("{}{}", reader.prefix, pascal(&tool.name));
        let arguments: Value = serde_json::from_str(&tool.arguments).unwrap_or_default();
        reader.declare_root(format!("{name}Arguments"), &arguments);
        let body = Body::Object(vec![
            Field::required("name", Type::literal(&tool.name)),
            Field::required("args", Type::Named(format!("{name}Arguments"))),
            Field::optional("id", Type::Text),
            Field::optional("type", Type::literal("tool_call")),
        ]);
        let call = format!("{name}Call");
        reader
            .declarations
            .push(Declaration::new(&call, &tool.docs, body));
        calls.push(Type::Named(call));
    }
    if calls.is_empty() {
        return;
    }
    let name = format!("{}ToolCall", reader.prefix);
    reader.declarations.push(Declaration::new(
        &name,
        "A call of a tool.",
        Body::Alias(union(calls)),
    ));
    reader.tool_call = Some(name);
}
