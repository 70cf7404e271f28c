//! Graphs in one line, for tests.

use super::topology::{
    Arm, Branch, Destinations, Edge, Join, NodeInfo, NodeKind, NodeName, Topology,
};

/// Reads a graph: `S` and `E` are START and END, `a>b` an edge, `a+b>c` a join, `a?b|c&d` a
/// router's two arms, `a??` a router that may name any node, `a!b|E` a node's destinations, `a*w` a
/// map, `~a` a node that may jump. Nodes are added at their first mention.
pub(crate) fn graph(text: &str) -> Topology {
    let mut topology = Topology::default();
    for word in text.split_whitespace() {
        let mut node = |name: &str| -> NodeName {
            match name {
                "S" => super::START.into(),
                "E" => super::END.into(),
                name => {
                    if topology.node(name).is_none() {
                        topology.nodes.push(NodeInfo::new(name));
                    }
                    name.into()
                }
            }
        };
        if let Some(name) = word.strip_prefix('~') {
            node(name);
            topology
                .nodes
                .iter_mut()
                .filter(|node| &*node.name == name)
                .for_each(|node| {
                    node.may_goto = true;
                });
        } else if let Some(source) = word.strip_suffix("??") {
            let source = node(source);
            topology.branches.push(Branch { source, arms: None });
        } else if let Some((source, arms)) = word.split_once('?') {
            let source = node(source);
            let arms = arms.split('|').map(|label| Arm {
                label: label.to_owned(),
                targets: label
                    .split('&')
                    .filter(|name| !name.is_empty())
                    .map(&mut node)
                    .collect(),
                map: false,
            });
            let arms = Some(arms.collect());
            topology.branches.push(Branch { source, arms });
        } else if let Some((source, targets)) = word.split_once('!') {
            let source = node(source);
            let targets = targets.split('|').map(node).collect();
            topology.destinations.push(Destinations { source, targets });
        } else if let Some((source, worker)) = word.split_once('*') {
            let (source, target) = (node(source), node(worker));
            let arm = Arm {
                label: worker.to_owned(),
                targets: vec![target],
                map: true,
            };
            topology.branches.push(Branch {
                source,
                arms: Some(vec![arm]),
            });
            topology
                .nodes
                .iter_mut()
                .filter(|node| &*node.name == worker)
                .for_each(|node| {
                    node.kind = NodeKind::Worker;
                });
        } else if let Some((sources, to)) = word.split_once('>') {
            let sources: Vec<NodeName> = sources.split('+').map(&mut node).collect();
            let to = node(to);
            match <[NodeName; 1]>::try_from(sources) {
                Ok([from]) => topology.edges.push(Edge { from, to }),
                Err(sources) => topology.joins.push(Join {
                    sources,
                    target: to,
                }),
            }
        } else {
            panic!("`{word}` is no line of a graph");
        }
    }
    topology
}
