//! Writes graphs as text: one line for each part, sorted.

use super::words::quoted;
use crate::{FieldInfo, KeyKind, NodeInfo, NodeKind, NodeName, StateInfo, Topology};

/// The first lines of every lock.
const HEAD: &str = "\
# What waiting threads depend on. A test compares it with the graphs, by `langgraph::graph::lock`.
# `LANGGRAPH_BLESS=1 cargo test` writes it.
";

/// Writes graphs as the text of a lock, sorted by name.
///
/// # Examples
///
/// ```
/// use langgraph::graph::lock;
/// use langgraph::prelude::*;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Order {
///     #[reducer(append)]
///     lines: Vec<String>,
/// }
///
/// #[node(alias = "check")]
/// async fn approve(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
///     let by: String = cx.interrupt("approver", "Who approves?")?;
///     Ok(OrderUpdate::default().lines(vec![by]))
/// }
///
/// let mut graph = graph! { START => approve => END };
/// let graph = graph.set_name("orders").compile()?;
/// let text = lock::write([graph.topology()]);
/// assert!(text.ends_with("
/// graph orders
///   state Order
///   field lines Vec<String> reducer append
///   node approve alias check
///     interrupt approver String
///   edge __start__ -> approve
///   edge approve -> __end__
/// "));
/// # Ok::<(), CompilationErrors>(())
/// ```
pub fn write<'a>(graphs: impl IntoIterator<Item = &'a Topology>) -> String {
    let mut graphs: Vec<&Topology> = graphs.into_iter().collect();
    graphs.sort_by(|a, b| a.name.cmp(&b.name));
    let mut text = HEAD.to_owned();
    for graph in graphs {
        text.push_str("\ngraph ");
        text.push_str(&quoted(&graph.name));
        text.push('\n');
        parts(graph, 1, &mut text);
    }
    text
}

/// Writes the parts of a graph, each on a line of its own.
fn parts(graph: &Topology, depth: usize, text: &mut String) {
    if let Some(state) = &graph.state {
        line(depth, &state_line(state), text);
    }
    let fields = graph.fields.iter().filter(|field| !field.untracked);
    sorted(fields.map(field_line).collect(), depth, text);
    let mut nodes: Vec<&NodeInfo> = graph.nodes.iter().collect();
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    for node in nodes {
        line(depth, &node_line(node), text);
        sorted(key_lines(node), depth + 1, text);
        if let NodeKind::Subgraph(inner) = &node.kind {
            parts(inner, depth + 1, text);
        }
    }
    let edges = graph.edges.iter();
    let edges = edges.map(|edge| format!("edge {} -> {}", quoted(&edge.from), quoted(&edge.to)));
    sorted(edges.collect(), depth, text);
    let joins = graph.joins.iter();
    let joins = joins.map(|join| {
        let mut sources = join.sources.clone();
        sources.sort();
        let target = quoted(&join.target);
        format!("join {} -> {target}", list(&sources, " + "))
    });
    sorted(joins.collect(), depth, text);
    sorted(routes(graph), depth, text);
    let gotos = graph.destinations.iter();
    let gotos = gotos.map(|goto| {
        let mut targets = goto.targets.clone();
        targets.sort();
        let source = quoted(&goto.source);
        format!("goto {source} -> {}", list(&targets, " & "))
    });
    sorted(gotos.collect(), depth, text);
    let bounds = graph.edge_bounds.iter();
    let bounds = bounds.map(|bound| {
        let (from, to) = (quoted(&bound.from), quoted(&bound.to));
        let mut line = format!("bound {from} -> {to} at_most {}", bound.at_most);
        if let Some(exit) = &bound.exit {
            line.push_str(" else ");
            line.push_str(&quoted(exit));
        }
        line
    });
    sorted(bounds.collect(), depth, text);
}

fn state_line(state: &StateInfo) -> String {
    let mut line = format!("state {}", quoted(&state.name));
    if state.version > 0 {
        line.push_str(" version ");
        line.push_str(&state.version.to_string());
    }
    aliases(&state.aliases, &mut line);
    line
}

fn field_line(field: &FieldInfo) -> String {
    let mut line = format!("field {} {}", quoted(&field.name), known(&field.ty));
    if field.reduced {
        line.push_str(" reducer ");
        line.push_str(&known(&field.reducer));
    }
    aliases(&field.aliases, &mut line);
    shape(&field.shape, &mut line);
    line
}

fn node_line(node: &NodeInfo) -> String {
    let mut line = format!("node {}", quoted(&node.name));
    let (word, text) = match &node.kind {
        NodeKind::Function => ("", String::new()),
        NodeKind::Worker => (" worker ", known(&node.item)),
        NodeKind::Subgraph(inner) => (" subgraph ", quoted(&inner.name).into_owned()),
        NodeKind::Remote { agent } => (" remote ", quoted(agent).into_owned()),
    };
    line.push_str(word);
    line.push_str(&text);
    aliases(&node.aliases, &mut line);
    line
}

fn key_lines(node: &NodeInfo) -> Vec<String> {
    let keys = node.keys.iter();
    keys.map(|key| {
        let kind = match key.kind {
            KeyKind::Interrupt => "interrupt",
            KeyKind::Once => "once",
            KeyKind::Task => "task",
            KeyKind::Approval => "approval",
        };
        let mut line = format!("{kind} {} {}", known(&key.key), known(&key.ty));
        shape(&key.shape, &mut line);
        line
    })
    .collect()
}

fn routes(graph: &Topology) -> Vec<String> {
    let mut lines = Vec::new();
    for branch in &graph.branches {
        let source = quoted(&branch.source);
        let Some(arms) = &branch.arms else {
            lines.push(format!("route {source} -> ?"));
            continue;
        };
        for arm in arms {
            let targets = list(&arm.targets, " & ");
            let label = quoted(&arm.label);
            let map = if arm.map { " each" } else { "" };
            lines.push(format!("route {source} -> {targets} by {label}{map}"));
        }
    }
    lines
}

fn aliases(names: &[String], line: &mut String) {
    for name in names {
        line.push_str(" alias ");
        line.push_str(&quoted(name));
    }
}

/// Writes what a type is made of, if it is known, at the end of a line.
fn shape(text: &str, line: &mut String) {
    if !text.is_empty() {
        line.push_str(" = ");
        line.push_str(text);
    }
}

/// Writes a text that may be unknown.
fn known(text: &str) -> String {
    if text.is_empty() {
        "?".to_owned()
    } else {
        quoted(text).into_owned()
    }
}

fn list(names: &[NodeName], between: &str) -> String {
    let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    names.join(between)
}

fn sorted(mut lines: Vec<String>, depth: usize, text: &mut String) {
    lines.sort();
    lines.dedup();
    for one in &lines {
        line(depth, one, text);
    }
}

fn line(depth: usize, line: &str, text: &mut String) {
    for _ in 0..depth {
        text.push_str("  ");
    }
    text.push_str(line);
    text.push('\n');
}
