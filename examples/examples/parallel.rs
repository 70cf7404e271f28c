//! Two parallel branches, and a node that waits for both.
//! The branches wait for each other, so the run ends only because they overlap in time.
//! Run it with `cargo run --example parallel`.

use langgraph::prelude::*;
use langgraph_examples::show;
use std::sync::Arc;
use tokio::sync::Barrier;

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Work {
    #[reducer(append)]
    done: Vec<String>,
    summary: String,
}

/// Both branches meet here while they work.
struct Meeting(Barrier);

#[node]
async fn task1(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    cx.resource::<Meeting>()?.0.wait().await;
    Ok(WorkUpdate::default().done(vec!["task1".to_owned()]))
}

#[node]
async fn task2(_: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    cx.resource::<Meeting>()?.0.wait().await;
    Ok(WorkUpdate::default().done(vec!["task2".to_owned()]))
}

/// Runs once. The updates merge in the order of the graph, whichever branch was first.
#[node]
async fn merge(state: &Work) -> WorkUpdate {
    WorkUpdate::default().summary(state.done.join(" and "))
}

/// The graph.
pub(crate) fn work() -> Result<CompiledStateGraph<Work>, CompilationErrors> {
    let mut graph = graph! {
        type State = Work;
        START => [task1, task2] => merge => END;
    };
    graph.set_name("work").compile()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = work()?;
    if show::graph(graph.topology()) {
        return Ok(());
    }
    let state = graph
        .run(WorkUpdate::default())
        .resource(Arc::new(Meeting(Barrier::new(2))))
        .await?
        .finished()?;
    println!("{} are done", state.summary);
    Ok(())
}
