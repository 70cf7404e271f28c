//! What all tasks of a run share.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde_json::Value;

use super::Resources;
use super::heartbeat::Heartbeat;
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
    pub(crate) heartbeat: Option<Arc<Heartbeat>>,
    pub(crate) shared: Arc<Shared>,
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
