//! Changes of a thread from outside.

use std::sync::Arc;

use langgraph::State;
use langgraph::checkpoint::CheckpointId;
use langgraph::error::AgentError;
use langgraph::thread::{StateUpdate, Thread};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Namespace;
use super::command::invalid;
use super::json::update_in;

/// A change of a thread from outside, or of a subgraph of it: a superstep.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The subgraph that is changed.
    pub(crate) namespace: Option<Namespace>,
    pub(crate) at: Option<CheckpointId>,
    pub(crate) updates: Vec<NodeUpdate>,
}

/// An update, and the node that it is written as.
#[derive(Clone, Debug)]
pub(crate) struct NodeUpdate {
    /// No values, no node: the checkpoint is copied.
    pub(crate) values: Value,
    pub(crate) as_node: Option<String>,
}

impl Change {
    /// Ends the thread: none of its tasks is left.
    pub(crate) fn end() -> Self {
        let end = NodeUpdate {
            values: Value::Null,
            as_node: Some("__end__".to_owned()),
        };
        Self {
            namespace: None,
            at: None,
            updates: vec![end],
        }
    }
}

/// Names that stand for something else than a node.
const ACTS: [&str; 3] = ["__input__", "__copy__", "__end__"];

/// Changes a thread, and returns the new checkpoint.
pub(super) async fn change<S>(thread: Thread<S>, change: Change) -> Result<CheckpointId, AgentError>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    let thread = match change.at {
        Some(at) => thread.at(at),
        None => thread,
    };
    let updates = match <[NodeUpdate; 1]>::try_from(change.updates) {
        Ok([one]) => return alone(thread, one).await,
        Err(several) => several,
    };
    let updates = updates.into_iter().map(|update| {
        let node = update.as_node.as_deref();
        if let Some(act) = node.filter(|node| ACTS.contains(node)) {
            let wrong = format!("`{act}` is alone in its superstep");
            return Err(invalid(wrong));
        }
        let written = StateUpdate::new(update_in::<S>(update.values)?);
        Ok(match update.as_node {
            Some(node) => written.as_node(Arc::<str>::from(node)),
            None => written,
        })
    });
    let updates: Vec<StateUpdate<S>> = updates.collect::<Result<_, _>>()?;
    thread.update_supersteps([updates]).create().await
}

/// Applies the only update of a superstep.
async fn alone<S>(thread: Thread<S>, update: NodeUpdate) -> Result<CheckpointId, AgentError>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    match update.as_node.as_deref() {
        None if update.values.is_null() => return thread.fork().await,
        Some("__copy__") => return thread.fork().await,
        Some("__end__") if update.values.is_null() => {
            return thread.clear_pending().create().await;
        }
        Some("__end__") => return Err(invalid("`__end__` ends a thread, and takes no values")),
        _ => {}
    }
    let values = update_in::<S>(update.values)?;
    match update.as_node {
        Some(node) if node == "__input__" => thread.add_input(values).create().await,
        Some(node) => {
            let update = thread.update(values).create();
            update.as_node(Arc::<str>::from(node)).await
        }
        None => thread.update(values).create().await,
    }
}
