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
        if let Some(name) = word.strip_prefix('~') {
            mention(&mut topology, name);
            change(&mut topology, name, |node| node.may_goto = true);
        } else if let Some(source) = word.strip_suffix("??") {
            let source = mention(&mut topology, source);
            topology.branches.push(Branch { source, arms: None });
        } else if let Some((source, arms)) = word.split_once('?') {
            router(&mut topology, source, arms);
        } else if let Some((source, targets)) = word.split_once('!') {
            let source = mention(&mut topology, source);
            let targets = mentions(&mut topology, targets, '|');
            topology.destinations.push(Destinations { source, targets });
        } else if let Some((source, worker)) = word.split_once('*') {
            map(&mut topology, source, worker);
        } else if let Some((sources, to)) = word.split_once('>') {
            edge(&mut topology, sources, to);
        } else {
            panic!("`{word}` is no line of a graph");
        }
    }
    topology
}

/// Returns the name of a node, which is added if it is new.
fn mention(topology: &mut Topology, name: &str) -> NodeName {
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
}

fn mentions(topology: &mut Topology, names: &str, separator: char) -> Vec<NodeName> {
    let names = names.split(separator).filter(|name| !name.is_empty());
    names.map(|name| mention(topology, name)).collect()
}

fn change(topology: &mut Topology, name: &str, change: impl Fn(&mut NodeInfo)) {
    let nodes = topology.nodes.iter_mut();
    nodes.filter(|node| &*node.name == name).for_each(change);
}

fn router(topology: &mut Topology, source: &str, arms: &str) {
    let source = mention(topology, source);
    let arms = arms.split('|').map(|label| Arm {
        label: label.to_owned(),
        targets: mentions(topology, label, '&'),
        map: false,
    });
    let arms = Some(arms.collect());
    topology.branches.push(Branch { source, arms });
}

fn map(topology: &mut Topology, source: &str, worker: &str) {
    let source = mention(topology, source);
    let arm = Arm {
        label: worker.to_owned(),
        targets: vec![mention(topology, worker)],
        map: true,
    };
    let arms = Some(vec![arm]);
    topology.branches.push(Branch { source, arms });
    change(topology, worker, |node| node.kind = NodeKind::Worker);
}

fn edge(topology: &mut Topology, sources: &str, to: &str) {
    let sources = mentions(topology, sources, '+');
    let to = mention(topology, to);
    match <[NodeName; 1]>::try_from(sources) {
        Ok([from]) => topology.edges.push(Edge { from, to }),
        Err(sources) => topology.joins.push(Join {
            sources,
            target: to,
        }),
    }
}
