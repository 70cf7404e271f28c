//! Pictures of graphs.

mod dot;
mod embed;
mod mermaid;
mod terminal;

use crate::{Arm, Branch, Breakpoints, Destinations, Edge, Join, NodeInfo, NodeKind, Topology};

/// Builds topologies concisely.
#[derive(Default)]
struct Graph(Topology);

fn graph<'n>(nodes: impl IntoIterator<Item = &'n str>) -> Graph {
    let mut graph = Graph::default();
    graph.0.nodes = nodes.into_iter().map(NodeInfo::new).collect();
    graph
}

impl Graph {
    fn edges<'n>(mut self, edges: impl IntoIterator<Item = (&'n str, &'n str)>) -> Self {
        let edges = edges.into_iter();
        self.0.edges.extend(edges.map(|(from, to)| Edge {
            from: from.into(),
            to: to.into(),
        }));
        self
    }

    fn chain(self, names: &[&str]) -> Self {
        self.edges(names.windows(2).map(|pair| (pair[0], pair[1])))
    }

    fn join(mut self, sources: &[&str], target: &str) -> Self {
        let sources = sources.iter().map(|name| (*name).into()).collect();
        self.0.joins.push(Join {
            sources,
            target: target.into(),
        });
        self
    }

    fn route(self, source: &str, arms: &[(&str, &[&str])]) -> Self {
        let arms = arms
            .iter()
            .map(|(label, targets)| arm(label, targets, false));
        self.branch(source, Some(arms.collect()))
    }

    fn branch(mut self, source: &str, arms: Option<Vec<Arm>>) -> Self {
        self.0.branches.push(Branch {
            source: source.into(),
            arms,
        });
        self
    }

    fn goto(mut self, source: &str, targets: &[&str]) -> Self {
        let targets = targets.iter().map(|name| (*name).into()).collect();
        self.0.destinations.push(Destinations {
            source: source.into(),
            targets,
        });
        self
    }

    fn with(mut self, name: &str, change: impl FnOnce(&mut NodeInfo)) -> Self {
        let node = self.0.nodes.iter_mut().find(|node| &*node.name == name);
        change(node.expect("a node of that name"));
        self
    }

    fn subgraph(self, name: &str, inner: &Graph) -> Self {
        let kind = NodeKind::Subgraph(Box::new(inner.0.clone()));
        self.with(name, |node| node.kind = kind)
    }

    fn stops(mut self, before: &[&str], after: &[&str]) -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
        self.0.interrupt_before = Breakpoints::Nodes(names(before));
        self.0.interrupt_after = Breakpoints::Nodes(names(after));
        self
    }
}

fn arm(label: &str, targets: &[&str], map: bool) -> Arm {
    let targets = targets.iter().map(|name| (*name).into()).collect();
    Arm {
        label: label.to_owned(),
        targets,
        map,
    }
}
