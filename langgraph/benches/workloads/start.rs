//! A process from its start to its first answer.

use std::process::Command;

use langgraph::prelude::*;

use super::chain::{Counter, by_hand, graph_of};
use super::measure::{Pair, Work, work};

/// Names the form that a process runs instead of the benchmark.
const FORM: &str = "LANGGRAPH_BENCH_FIRST_ANSWER";

/// A process that builds a runtime and a chain, runs it once, and ends.
pub(crate) fn first_answer(nodes: usize) -> Pair {
    let process = |form: &'static str| -> Work {
        work(move || {
            let mut process = Command::new(std::env::current_exe().unwrap());
            process.env(FORM, format!("{form} {nodes}"));
            async move { assert!(process.status().unwrap().success()) }
        })
    };
    let forms = (process("langgraph"), process("baseline"));
    Pair::new("process to first answer", nodes, forms.0, forms.1)
}

/// Runs a form, if this process was started for that.
pub(crate) fn is_asked() -> bool {
    let Ok(asked) = std::env::var(FORM) else {
        return false;
    };
    let (form, nodes) = asked.split_once(' ').unwrap();
    let nodes: usize = nodes.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let total = runtime.block_on(async {
        if form == "langgraph" {
            return graph_of(nodes).invoke(()).await.unwrap().total;
        }
        let steps: Vec<_> = (0..nodes).map(|_| by_hand()).collect();
        let mut state = Counter::default();
        for step in &steps {
            let update = step(&state).await;
            state.try_merge(update).unwrap();
        }
        state.total
    });
    assert_eq!(usize::try_from(total).unwrap(), nodes);
    true
}
