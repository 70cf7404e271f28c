//! Where a checkpoint is.

use std::sync::Arc;

use langgraph::checkpoint::CheckpointId;
use langgraph::graph::NodeName;
use langgraph::stream::EventTask;
use serde_json::{Map, Value, json};

/// Where a checkpoint is: which graph of which thread has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckpointPlace {
    thread: String,
    /// The tasks around its graph: `node:task|node:task`.
    namespace: String,
    /// The checkpoints around it, by their namespaces.
    around: Map<String, Value>,
    node: Option<NodeName>,
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventOrigin<'a> {
    pub(super) thread: &'a str,
    /// The task that runs the graph of the event; `None` for the root graph.
    pub(super) parent: Option<&'a EventTask>,
}

impl CheckpointPlace {
    pub(crate) fn root(thread: &str) -> Self {
        Self {
            thread: thread.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the place of the checkpoint that an event shows.
    pub(super) fn of_event(EventOrigin { thread, parent }: EventOrigin<'_>) -> Self {
        let Some(task) = parent else {
            return Self::root(thread);
        };
        let parent = task.parent();
        let outer = Self::of_event(EventOrigin { thread, parent });
        outer.inside(task.checkpoint(), &task.node().into(), &task.id())
    }

    /// Returns the place of the graph in a task, which runs behind that checkpoint.
    pub(super) fn inside(
        &self,
        checkpoint: Option<CheckpointId>,
        node: &NodeName,
        task: &str,
    ) -> Self {
        let mut around = self.around.clone();
        if let Some(checkpoint) = checkpoint {
            around.insert(self.namespace.clone(), json!(checkpoint.to_string()));
        }
        let outer = match &*self.namespace {
            "" => String::new(),
            outer => format!("{outer}|"),
        };
        Self {
            thread: self.thread.clone(),
            namespace: format!("{outer}{node}:{task}"),
            around,
            node: Some(Arc::clone(node)),
        }
    }

    /// Returns what names a checkpoint there.
    pub(super) fn checkpoint(&self, id: CheckpointId) -> Value {
        let mut value = json!({
            "thread_id": self.thread, "checkpoint_ns": self.namespace,
            "checkpoint_id": id.to_string(),
        });
        if self.node.is_some() {
            let mut map = self.around.clone();
            map.insert(self.namespace.clone(), json!(id.to_string()));
            value["checkpoint_map"] = Value::Object(map);
        }
        value
    }

    /// Returns what the metadata of a checkpoint say of its place.
    pub(super) fn metadata(&self) -> Map<String, Value> {
        let mut metadata = Map::new();
        let mut say = |name: &str, value: Value| metadata.insert(name.to_owned(), value);
        say("parents", json!(self.around));
        say("thread_id", json!(self.thread));
        if let Some(node) = &self.node {
            for name in ["checkpoint_ns", "langgraph_checkpoint_ns"] {
                say(name, json!(self.namespace));
            }
            say("langgraph_node", json!(node));
            say("checkpoint_map", json!(self.around));
        }
        metadata
    }
}
