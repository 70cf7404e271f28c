//! The picture of a graph as `{nodes, edges}`.

use langgraph::graph::{END, NodeKind, START, Topology};
use serde_json::{Value, json};

/// Returns the nodes and edges. `depth` is how many levels of subgraphs are opened.
pub(crate) fn drawing(topology: &Topology, depth: usize) -> Value {
    let mut nodes = vec![json!({"id": START, "type": "runnable", "data": {"name": START}})];
    let mut edges = Vec::new();
    level(topology, "", depth, &mut nodes, &mut edges);
    nodes.push(json!({"id": END}));
    json!({"nodes": nodes, "edges": edges})
}

fn level(
    topology: &Topology,
    prefix: &str,
    depth: usize,
    nodes: &mut Vec<Value>,
    edges: &mut Vec<Value>,
) {
    let id = |name: &str| {
        if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}:{name}")
        }
    };
    for node in &topology.nodes {
        let id = id(&node.name);
        nodes.push(json!({"id": id, "type": "runnable", "data": {"name": node.name}}));
        if let (NodeKind::Subgraph(inner), true) = (&node.kind, depth > 0) {
            for end in [START, END] {
                let id = format!("{id}:{end}");
                nodes.push(json!({"id": id, "type": "runnable", "data": {"name": end}}));
            }
            level(inner, &id, depth - 1, nodes, edges);
        }
    }
    let first = edges.len();
    for edge in &topology.edges {
        edges.push(json!({"source": id(&edge.from), "target": id(&edge.to)}));
    }
    for join in &topology.joins {
        for source in &join.sources {
            edges.push(json!({"source": id(source), "target": id(&join.target)}));
        }
    }
    for branch in &topology.branches {
        for arm in branch.arms.iter().flatten() {
            for target in &arm.targets {
                edges.push(json!({
                    "source": id(&branch.source), "target": id(target),
                    "data": arm.label, "conditional": true,
                }));
            }
        }
    }
    for jump in &topology.destinations {
        for target in &jump.targets {
            edges.push(json!({
                "source": id(&jump.source), "target": id(target), "conditional": true,
            }));
        }
    }
    for bound in &topology.edge_bounds {
        let (from, to) = (id(&bound.from), id(&bound.to));
        let own = edges.iter_mut().skip(first);
        for edge in own.filter(|edge| edge["source"] == from && edge["target"] == to) {
            let label = bound.label(edge["data"].as_str());
            edge["data"] = label.into();
            edge["conditional"] = true.into();
        }
        if let Some(exit) = &bound.exit {
            edges.push(json!({
                "source": from, "target": id(exit),
                "data": bound.exit_label(), "conditional": true,
            }));
        }
    }
}

/// Returns the subgraphs by the path of their nodes, joined by `|`.
pub(crate) fn subgraph_names(topology: &Topology, recurse: bool) -> Vec<(String, &Topology)> {
    let mut found = Vec::new();
    collect(topology, "", recurse, &mut found);
    found
}

fn collect<'t>(
    topology: &'t Topology,
    prefix: &str,
    recurse: bool,
    found: &mut Vec<(String, &'t Topology)>,
) {
    for node in &topology.nodes {
        if let NodeKind::Subgraph(inner) = &node.kind {
            let path = if prefix.is_empty() {
                node.name.to_string()
            } else {
                format!("{prefix}|{}", node.name)
            };
            found.push((path.clone(), inner));
            if recurse {
                collect(inner, &path, recurse, found);
            }
        }
    }
}
