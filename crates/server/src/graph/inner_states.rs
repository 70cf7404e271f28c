//! The states of the graphs inside the tasks of a state, as clients see it.

use langgraph::graph::{NodeKind, Topology};
use langgraph::stream::EventTask;
use serde_json::{Value, json};

/// Says where the graphs inside the tasks are, for those whose states are not there. The topology is that of the graph
/// of the state.
pub(super) fn name_inner(state: &mut Value, topology: &Topology) {
    let place = state["checkpoint"].clone();
    for task in state["tasks"].as_array_mut().into_iter().flatten() {
        let (name, id) = (task["name"].as_str(), task["id"].as_str());
        let (Some(name), Some(id)) = (name, id) else {
            continue;
        };
        let Some(inside) = topology_in(topology, name) else {
            continue;
        };
        if !task["state"].is_null() {
            name_inner(&mut task["state"], inside);
            continue;
        }
        let namespace = match place["checkpoint_ns"].as_str() {
            None | Some("") => format!("{name}:{id}"),
            Some(outer) => format!("{outer}|{name}:{id}"),
        };
        let thread = &place["thread_id"];
        task["checkpoint"] = json!({"thread_id": thread, "checkpoint_ns": namespace});
    }
}

/// Returns the topology of the graph in a node.
fn topology_in<'t>(topology: &'t Topology, node: &str) -> Option<&'t Topology> {
    match &topology.node(node)?.kind {
        NodeKind::Subgraph(inside) => Some(inside),
        _ => None,
    }
}

/// Returns the topology of the graph behind that path of nodes.
pub(super) fn topology_at<'t, 'n>(
    root: &'t Topology,
    mut nodes: impl Iterator<Item = &'n str>,
) -> Option<&'t Topology> {
    nodes.try_fold(root, topology_in)
}

/// Returns the topology of the graph that a task runs, below that of the root graph.
pub(super) fn topology_of<'t>(
    root: &'t Topology,
    task: Option<&EventTask>,
) -> Option<&'t Topology> {
    match task {
        None => Some(root),
        Some(task) => topology_in(topology_of(root, task.parent())?, task.node()),
    }
}

#[cfg(test)]
mod tests {
    use langgraph::graph::StateGraph;

    use super::*;

    #[test]
    fn a_graph_inside_another_is_named_below_it() {
        let mut deep = StateGraph::<i64>::new();
        deep.add_node("c", |n: i64| n).add_sequence(&["c"]);
        let mut inner = StateGraph::<i64>::new();
        inner.add_node("b", deep.compile().unwrap());
        inner.add_sequence(&["b"]);
        let mut root = StateGraph::<i64>::new();
        root.add_node("a", inner.compile().unwrap());
        root.add_sequence(&["a"]);
        let root = root.compile().unwrap();
        let place = |namespace: &str| json!({"thread_id": "t", "checkpoint_ns": namespace});
        let task = json!({"name": "b", "id": "2", "state": null});
        let inside = json!({"checkpoint": place("a:1"), "tasks": [task]});
        let mut state = json!({
            "checkpoint": place(""), "tasks": [{"name": "a", "id": "1", "state": inside}],
        });
        name_inner(&mut state, root.topology());
        let task = &state["tasks"][0];
        assert_eq!(task["checkpoint"], Value::Null);
        assert_eq!(task["state"]["tasks"][0]["checkpoint"], place("a:1|b:2"));
    }
}
