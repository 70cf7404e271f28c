//! The graph of the cases that run one: its nodes write lines.

use crate::case::Problem;
use langgraph::checkpoint::Checkpointer;
use langgraph::error::NodeError;
use langgraph::graph::CompiledStateGraph;
use langgraph::node::Context;
use langgraph::{State, StateGraph};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Diary {
    #[reducer(append)]
    pub(super) log: Vec<String>,
    pub(super) mood: Option<f64>,
}

pub(super) fn wrote(line: impl Into<String>) -> DiaryUpdate {
    DiaryUpdate::default().log(vec![line.into()])
}

/// A node that writes its name.
pub(super) fn writer(name: &'static str) -> impl Fn(&Diary) -> DiaryUpdate + Clone {
    move |_| wrote(name)
}

pub(super) async fn ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "who?")?;
    Ok(wrote(answer))
}

pub(super) fn kept(
    graph: &StateGraph<Diary>,
    saver: &Arc<dyn Checkpointer>,
) -> Result<CompiledStateGraph<Diary>, Problem> {
    let graph = graph.compile();
    let graph = graph.map_err(|errors| Problem::Wrong(format!("a graph: {errors}")))?;
    Ok(graph.checkpointer(Arc::clone(saver)))
}

pub(super) async fn log_of(
    graph: &CompiledStateGraph<Diary>,
    thread: &str,
) -> Result<Vec<String>, Problem> {
    let snapshot = graph.thread(thread).state().await?;
    Ok(snapshot
        .map(|snapshot| snapshot.values.log)
        .unwrap_or_default())
}
