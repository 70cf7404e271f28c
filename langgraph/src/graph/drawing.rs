//! Drawings of graphs.

use super::draw::Drawing;
use super::{CompiledStateGraph, StateGraph};
use crate::state::State;

impl<S: State> StateGraph<S> {
    /// Draws the graph; see [`Topology::draw`](super::Topology::draw).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("greet", |n: &i64| n + 1).add_sequence(&["greet"]);
    /// assert_eq!(
    ///     graph.draw().with_styles(false).mermaid(),
    ///     "graph TD;\n\t__start__ --> greet;\n\tgreet --> __end__;\n",
    /// );
    /// ```
    pub fn draw(&self) -> Drawing<'_> {
        self.topology().draw()
    }
}

impl<S: State> CompiledStateGraph<S> {
    /// Draws the graph; see [`Topology::draw`](super::Topology::draw).
    pub fn draw(&self) -> Drawing<'_> {
        self.topology().draw()
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{
        Arm, Branch, Breakpoints, Destinations, Edge, Join, NodeInfo, NodeKind, Topology,
    };
    use crate::prelude::*;

    macro_rules! golden {
        ($name:literal) => {
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../crates/topology/src/draw/golden/",
                $name,
                ".mmd"
            ))
        };
    }

    #[test]
    fn f7_a_compiled_graph_draws_what_was_built() {
        let mut inner = StateGraph::<i64>::new();
        inner
            .add_node("m2", |n: &i64| *n)
            .add_node("m1", |n: &i64| *n);
        inner
            .add_edge(START, "m1")
            .add_edge("m1", "m2")
            .add_edge("m2", END);
        let inner = inner.compile().expect("a good graph");
        let mut outer = StateGraph::<i64>::new();
        outer
            .add_node("before", |n: &i64| *n)
            .add_node("sub", inner)
            .add_node("after", |n: &i64| *n);
        outer.add_sequence(&["before", "sub", "after"]);
        let outer = outer.compile().expect("a good graph");
        assert_eq!(
            outer.topology().draw().xray(1).mermaid(),
            golden!("sub_open")
        );

        let mut agent = StateGraph::<i64>::new();
        agent
            .add_node("agent", |n: &i64| *n)
            .add_node("tools", |n: &i64| *n);
        agent.add_edge(START, "agent").add_edge("tools", "agent");
        let paths = [("continue", "tools"), ("finish", END)];
        agent.add_conditional_edges("agent", |_: &i64| "finish", paths);
        let agent = agent.compile().expect("a good graph");
        assert_eq!(agent.topology().draw().mermaid(), golden!("loop"));
    }

    #[test]
    fn j13_a_graph_as_json_is_the_same_graph() {
        let mut inner = Topology::default();
        inner.nodes.push(NodeInfo::new("x"));
        let (from, to) = ("x".into(), "x".into());
        inner.edges.push(Edge { from, to });

        let mut all = Topology::default();
        all.nodes = ["a", "b", "sub", "r"].map(NodeInfo::new).into();
        all.nodes[2].kind = NodeKind::Subgraph(Box::new(inner));
        all.nodes[3].kind = NodeKind::Remote {
            agent: "mail".to_owned(),
        };
        let (from, to) = ("a".into(), "b".into());
        all.edges.push(Edge { from, to });
        all.joins.push(Join {
            sources: vec!["a".into(), "b".into()],
            target: "sub".into(),
        });
        let arm = Arm {
            label: "for".to_owned(),
            targets: vec!["a".into()],
            map: true,
        };
        let arms = Some(vec![arm]);
        let source = "b".into();
        all.branches.push(Branch { source, arms });
        let (source, arms) = ("r".into(), None);
        all.branches.push(Branch { source, arms });
        all.destinations.push(Destinations {
            source: "a".into(),
            targets: vec!["r".into()],
        });
        all.interrupt_before = Breakpoints::from(["a"]);

        let json = serde_json::to_string(&all).expect("json");
        let read: Topology = serde_json::from_str(&json).expect("a topology");
        assert_eq!(read, all);
        assert_eq!(read.draw().xray(1).mermaid(), all.draw().xray(1).mermaid());
    }
}
