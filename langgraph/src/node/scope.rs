//! What all tasks of a run share.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use super::Resources;
use super::once::OnceRecord;
use super::pulse::Pulse;
use crate::checkpoint::{Batch, CheckpointError, CheckpointId, LogHead, TaskRecord, ThreadKey};
use crate::node::CancelToken;
use crate::node::UnfilledJoin;
use crate::stream::Emitter;
use langgraph_topology::NodeName;

/// What the tasks of one graph share during a run.
pub(crate) struct Scope {
    /// The graph's nodes, by index.
    pub(crate) names: Arc<[NodeName]>,
    /// How many supersteps the run may take.
    pub(crate) limit: usize,
    pub(crate) resources: Resources,
    pub(crate) emitter: Option<Emitter>,
    /// The nodes around this graph, outermost first.
    pub(crate) namespace: Arc<[NodeName]>,
    /// The signs of life of the task around this graph, if it has to show them.
    pub(crate) pulse: Option<Arc<Pulse>>,
    pub(crate) shared: Arc<Shared>,
}

/// Where a task stands in its thread's log: a graph inside the task keeps its own log below.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) log_head: Arc<LogHead>,
    pub(crate) checkpoint: CheckpointId,
    pub(crate) task: usize,
    /// The name that the node had when the checkpoint was stored, if it was another one.
    pub(crate) called_before: Option<NodeName>,
}

impl Place {
    /// The log of the graph that the task calls as its `call`th. Another task, or the same node in
    /// another superstep, never has the same.
    pub(crate) fn below(&self, node: &str, call: usize) -> ThreadKey {
        let node = self.called_before.as_deref().unwrap_or(node);
        below(&self.log_head.key, self.checkpoint, self.task, node, call)
    }

    /// Stores what the task has done once.
    pub(super) async fn keep_once(&self, record: OnceRecord) -> Result<(), CheckpointError> {
        let batch = Batch {
            tasks: vec![TaskRecord {
                checkpoint: self.checkpoint,
                task: self.task,
                outcome: None,
                answers: Vec::new(),
                once: vec![record],
            }],
            running: true,
            ..Batch::default()
        };
        self.log_head.put(batch).await
    }

    /// The log that a graph inside keeps from call to call.
    pub(crate) fn kept(&self, key: &str) -> ThreadKey {
        kept(&self.log_head.key.thread, key)
    }

    /// The checkpoint in the name of a log below a task; from behind, since a node may have any
    /// name.
    pub(crate) fn checkpoint_of(name: &str) -> Option<CheckpointId> {
        name.rsplit(':').nth(2)?.parse().ok()
    }
}

/// The log of a graph that a task of the log `key` calls; see [`Place::below`].
pub(crate) fn below(
    key: &ThreadKey,
    checkpoint: CheckpointId,
    task: usize,
    node: &str,
    call: usize,
) -> ThreadKey {
    let mut key = key.clone();
    key.namespace
        .push(format!("{node}:{checkpoint}:{task}:{call}"));
    key
}

/// The log that a graph inside a thread keeps from call to call; see [`Place::kept`].
pub(crate) fn kept(thread: &str, key: &str) -> ThreadKey {
    ThreadKey {
        thread: thread.to_owned(),
        // No log below a task has such a name: those end in numbers.
        namespace: vec![format!("@{key}")],
    }
}

/// What a run shares with the subgraphs inside it.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) run_id: OnceLock<String>,
    pub(crate) thread: Option<String>,
    /// What the run itself was given.
    pub(crate) resources: Resources,
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) fail_fast: bool,
    /// The keys of graphs with a state of their own that run.
    pub(crate) kept_graphs: Mutex<HashSet<String>>,
    /// What graphs that have ended have left waiting.
    pub(crate) unfilled_joins: Mutex<Vec<UnfilledJoin>>,
}

impl Shared {
    /// Notes for the whole run the joins that a graph has left waiting.
    pub(crate) fn report_unfilled_joins(&self, mut unfilled: Vec<UnfilledJoin>) {
        if unfilled.is_empty() {
            return;
        }
        let mut shared = self
            .unfilled_joins
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // A graph that is called in a loop says it once.
        unfilled.retain(|join| !shared.contains(join));
        shared.append(&mut unfilled);
    }

    /// The joins that all graphs of the run have left waiting.
    pub(crate) fn take_unfilled_joins(&self) -> Vec<UnfilledJoin> {
        let shared = self.unfilled_joins.lock();
        std::mem::take(&mut *shared.unwrap_or_else(PoisonError::into_inner))
    }

    /// Made when first asked for: most runs never need it.
    pub(crate) fn run_id(&self) -> &str {
        self.run_id.get_or_init(|| uuid::Uuid::now_v7().to_string())
    }
}
