//! Checkpoints of subgraphs, as clients name them.

use std::future::Future;
use std::pin::Pin;

use langgraph::State;
use langgraph::checkpoint::CheckpointId;
use langgraph::error::{AgentError, SubgraphError};
use langgraph::thread::{SubgraphPath, Thread};
use serde_json::Value;

/// A checkpoint of a subgraph.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InnerCheckpoint {
    pub(crate) id: CheckpointId,
    /// The checkpoint of the thread around it; the newest without one.
    pub(crate) root: Option<CheckpointId>,
    /// The tasks around the subgraph, outermost first: nodes, and ids of tasks.
    tasks: Vec<(String, String)>,
}

impl InnerCheckpoint {
    /// Reads a namespace: `node:task|node:task`.
    pub(crate) fn new(
        namespace: &str,
        id: CheckpointId,
        root: Option<CheckpointId>,
    ) -> Option<Self> {
        let pair = |part: &str| {
            let (node, task) = part.rsplit_once(':')?;
            (!node.is_empty()).then(|| (node.to_owned(), task.to_owned()))
        };
        let tasks: Option<_> = namespace.split('|').map(pair).collect();
        Some(Self {
            id,
            root,
            tasks: tasks?,
        })
    }

    /// Returns the path to the subgraph in a state that has been read with its subgraphs; `None` if
    /// there is no such task.
    pub(super) fn path(&self, state: &Value) -> Option<SubgraphPath> {
        let mut path: Option<SubgraphPath> = None;
        let mut around = state;
        for (node, task) in &self.tasks {
            let same = around["tasks"].as_array()?.iter();
            let same: Vec<&Value> = same.filter(|task| task["name"] == **node).collect();
            let index = same.iter().position(|found| found["id"] == **task)?;
            let further = match path {
                Some(path) => path.then(&**node),
                None => SubgraphPath::new(&**node),
            };
            path = Some(match same.len() {
                1 => further,
                _ => further.instance(index),
            });
            around = &same.get(index)?["state"];
        }
        path
    }
}

type Entering<'a> = Pin<Box<dyn Future<Output = Result<bool, AgentError>> + Send + 'a>>;

/// Has a thread go on at a checkpoint of a subgraph over some state. Returns false if the subgraph
/// has another one.
pub(crate) type Enter<S> = for<'a> fn(&'a Thread<S>, SubgraphPath, CheckpointId) -> Entering<'a>;

/// As [`Enter`], for subgraphs over the state `T`.
pub(super) fn enter<S: State, T: State>(
    thread: &Thread<S>,
    path: SubgraphPath,
    at: CheckpointId,
) -> Entering<'_> {
    Box::pin(async move {
        match thread.subgraph::<T>(path) {
            Ok(inside) => inside.at(at).fork().await.map(|_| true),
            Err(SubgraphError::WrongState { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn l2_a_namespace_is_a_path_of_tasks() {
        let id: CheckpointId = "01a00000-0000-7000-8000-000000000000".parse().unwrap();
        let inner = json!({"tasks": [{"name": "c", "id": "3", "state": null}]});
        let state = json!({"tasks": [
            {"name": "a", "id": "1"}, {"name": "b", "id": "1", "state": null},
            {"name": "b", "id": "2", "state": inner},
        ]});
        let path = |namespace: &str| {
            let place = InnerCheckpoint::new(namespace, id, None)?;
            Some(place.path(&state)?.to_string())
        };
        assert_eq!(path("a:1").as_deref(), Some("a"));
        assert_eq!(path("b:2|c:3").as_deref(), Some("b[1]/c"));
        for unknown in ["a:2", "c:3", "b:1|c:3", "a", "", ":1"] {
            assert_eq!(path(unknown), None, "{unknown}");
        }
    }
}
