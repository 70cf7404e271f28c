//! Histories of threads and their subgraphs, as clients ask for them.

use langgraph::State;
use langgraph::checkpoint::{CheckpointId, ListOptions, Snapshot};
use langgraph::error::AgentError;
use langgraph::thread::Thread;
use serde::Serialize;
use serde_json::{Map, Value};

use super::any_thread::View;
use super::inside::Namespace;
use crate::rows::contains;

/// Which checkpoints of a thread, or of a subgraph of it, a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct HistoryQuery {
    pub(crate) namespace: Option<Namespace>,
    /// Only this one.
    pub(crate) at: Option<CheckpointId>,
    /// Only those older than this one.
    pub(crate) before: Option<CheckpointId>,
    pub(crate) limit: usize,
    /// Only those whose metadata hold these.
    pub(crate) metadata: Map<String, Value>,
}

/// Returns the checkpoints that a client asks for, the newest first.
pub(super) async fn history<S: State<Update: Serialize>>(
    thread: &Thread<S>,
    query: &HistoryQuery,
    view: &View<'_>,
) -> Result<Vec<Value>, AgentError> {
    let wanted = Value::Object(query.metadata.clone());
    let shown = |snapshot: &Snapshot<S>| {
        let state = view.shown(snapshot);
        contains(&state["metadata"], &wanted).then_some(state)
    };
    if let Some(id) = query.at {
        let only = thread.at(id).state().await?;
        let only = only.filter(|only| query.before.is_none_or(|before| only.id < before));
        return Ok(only.iter().filter_map(shown).take(query.limit).collect());
    }
    let mut options = ListOptions::new();
    if let Some(before) = query.before {
        options = options.before(before);
    }
    if query.metadata.is_empty() {
        options = options.limit(query.limit);
    }
    let history = thread.history_with(options).await?;
    let found = history.iter().filter_map(shown).take(query.limit);
    Ok(found.collect())
}
