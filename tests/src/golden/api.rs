//! How threads are read and continued: every call of the library's interface for threads that the
//! golden files need.

use langgraph::checkpoint::{CheckpointId, InnerSnapshot, ListOptions, Snapshot};
use langgraph::prelude::*;
use serde_json::Value;

type Answer<T> = Result<T, AgentError>;

pub(super) async fn state<S: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
) -> Answer<Option<Snapshot<S>>> {
    graph.thread(thread).state_with_subgraphs().await
}

pub(super) async fn state_at<S: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
    id: CheckpointId,
) -> Answer<Option<Snapshot<S>>> {
    graph.thread(thread).at(id).state().await
}

pub(super) async fn history<S: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
    options: ListOptions,
) -> Answer<Vec<Snapshot<S>>> {
    graph.thread(thread).history_with(options).await
}

pub(super) async fn lineage<S: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
) -> Answer<Vec<Snapshot<S>>> {
    graph.thread(thread).lineage().await
}

/// The checkpoints of a graph inside, and where it stands.
pub(super) async fn inside<S: State, T: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
    node: &str,
) -> Answer<(Option<Snapshot<T>>, Vec<Snapshot<T>>)> {
    let inside = graph.thread(thread).subgraph::<T>(node)?;
    Ok((inside.state().await?, inside.history().await?))
}

/// The graph inside a task, as its snapshot shows it.
pub(super) fn inside_task<S: State>(
    task: &langgraph::checkpoint::TaskSnapshot<S>,
) -> Option<&InnerSnapshot> {
    task.inside.as_ref()
}

pub(super) async fn resume<S: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
    key: &str,
    answer: Value,
) -> Answer<Outcome<S>> {
    graph.thread(thread).resume(key, answer).await
}

pub(super) async fn proceed<S: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
) -> Answer<Outcome<S>> {
    graph.thread(thread).proceed().await
}
