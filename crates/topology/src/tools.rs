//! The tools of a graph.

use crate::{NodeKind, ToolInfo, Topology};

impl Topology {
    /// Returns the tools that the nodes run, those of subgraphs among them: each name once, with the decisions of all
    /// nodes that run it.
    pub fn tools(&self) -> Vec<ToolInfo> {
        let mut found = Vec::new();
        collect(self, &mut found);
        found
    }
}

fn collect(topology: &Topology, found: &mut Vec<ToolInfo>) {
    for node in &topology.nodes {
        for tool in &node.tools {
            let Some(known) = found.iter_mut().find(|known| known.name == tool.name) else {
                found.push(tool.clone());
                continue;
            };
            for decision in &tool.decisions {
                if !known.decisions.contains(decision) {
                    known.decisions.push(decision.clone());
                }
            }
        }
        if let NodeKind::Subgraph(inner) = &node.kind {
            collect(inner, found);
        }
    }
}
