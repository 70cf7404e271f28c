//! `synaptic-graph`. A run fails after 100 nodes, which no option changes, and nodes never run side by
//! side: of the workloads, it can run the short chain.

use std::hint::black_box;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use synaptic_graph::{END, FnNode, State, StateGraph};

use crate::workload::{Chain, Work, Workload, names, work};

pub fn make(workload: Workload, size: usize) -> Option<Work> {
    (workload == Chain && size <= 100).then(|| chain(size))
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Counter {
    total: usize,
}

impl State for Counter {
    fn merge(&mut self, other: Self) {
        self.total += other.total;
    }
}

fn chain(nodes: usize) -> Work {
    let names = names(nodes);
    let mut graph = StateGraph::new().set_entry_point(&*names[0]);
    for name in &names {
        let count = FnNode::new(|mut state: Counter| async move {
            state.total += black_box(1);
            Ok(state.into())
        });
        graph = graph.add_node(name, count);
    }
    for pair in names.windows(2) {
        graph = graph.add_edge(&pair[0], &pair[1]);
    }
    let graph = graph.add_edge(&names[nodes - 1], END);
    let graph = Arc::new(graph.compile().unwrap());
    work(move || {
        let graph = Arc::clone(&graph);
        async move {
            let result = graph.invoke(Counter::default()).await.unwrap();
            result.into_state().total
        }
    })
}
