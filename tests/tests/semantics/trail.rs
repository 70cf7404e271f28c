//! A state that shows where a run went, and the nodes that write it down.

use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trail {
    /// Every node that ran, with its superstep: `a@1`.
    #[reducer(append)]
    pub(crate) visits: Vec<String>,
    /// A field that one node per superstep may write.
    pub(crate) last: String,
    pub(crate) round: usize,
}

/// A node that writes down that it ran, and in which superstep.
pub(crate) fn visit(_: &Trail, cx: &Context) -> TrailUpdate {
    visited(cx)
}

/// As [`visit`], and counts rounds.
pub(crate) fn turn(state: &Trail, cx: &Context) -> TrailUpdate {
    visited(cx).round(state.round + 1)
}

pub(crate) fn visited(cx: &Context) -> TrailUpdate {
    TrailUpdate::default().visits(vec![format!("{}@{}", cx.node(), cx.step())])
}

/// Runs each graph and compares where it went.
pub(crate) async fn assert_visits<const N: usize>(graphs: [StateGraph<Trail>; N], expected: &str) {
    for (index, graph) in graphs.into_iter().enumerate() {
        let state = graph.compile().unwrap().invoke(()).await.unwrap();
        assert_eq!(state.visits.join(" "), expected, "graph {index}");
    }
}

/// A graph whose nodes are all [`visit`].
pub(crate) fn visiting(nodes: &[&str]) -> StateGraph<Trail> {
    let mut graph = StateGraph::new();
    for name in nodes {
        graph.add_node(*name, visit);
    }
    graph
}

/// A graph of [`visit`] nodes and plain edges, `a>b c>d`; `^` is START, `$` is END.
pub(crate) fn wired(nodes: &[&str], edges: &str) -> StateGraph<Trail> {
    let mut graph = visiting(nodes);
    wire(&mut graph, edges);
    graph
}

/// Adds edges to a graph: `a>b`, and `a,b>c` for one that waits for both.
pub(crate) fn wire(graph: &mut StateGraph<Trail>, edges: &str) {
    let end = |name: &str| match name {
        "^" => START.to_owned(),
        "$" => END.to_owned(),
        name => name.to_owned(),
    };
    for edge in edges.split_whitespace() {
        let (from, to) = edge.split_once('>').unwrap();
        if from.contains(',') {
            let sources: Vec<_> = from.split(',').map(end).collect();
            graph.add_edge(sources, end(to));
        } else {
            graph.add_edge(end(from), end(to));
        }
    }
}
