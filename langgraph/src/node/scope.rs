//! What the tasks of a run share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use langgraph_core::Lock;
use serde_json::Value;

use super::heartbeat::Heartbeat;
use super::{FinishedCalls, GraphPath, NodeId, Resources, RunBounds};
use crate::checkpoint::{RunStatus, UnfilledJoin};
use crate::log::RunGuard;
use crate::node::CancelToken;
use crate::stream::{Emitter, RunStart};
use langgraph_topology::NodeName;

/// The metadata of a run, if it has any.
pub(crate) type Metadata = Option<Arc<BTreeMap<String, Value>>>;

/// What the tasks of one graph share during a run.
pub(crate) struct Scope {
    /// The names of the graph's nodes, by index.
    pub(crate) names: Arc<[NodeName]>,
    /// The limit of supersteps.
    pub(crate) limit: usize,
    /// How often edges that have a bound were followed; `None` if there are none.
    pub(crate) bounds: Option<RunBounds>,
    pub(crate) resources: Resources,
    pub(crate) emitter: Option<Box<Emitter>>,
    pub(crate) path: GraphPath,
    /// The heartbeat of the parent task, if it has an idle timeout.
    pub(crate) heartbeat: Option<Arc<Heartbeat>>,
    /// The calls that have ended in the outermost parent task that may be repeated, and below it.
    pub(crate) finished_calls: Option<Arc<FinishedCalls>>,
    pub(crate) shared: Arc<Shared>,
}

impl Scope {
    /// Returns the name of a node of the graph.
    pub(super) fn name(&self, node: NodeId) -> NodeName {
        let name = self.names.get(node.index()).cloned();
        name.unwrap_or_else(|| langgraph_topology::START.into())
    }
}

/// What a run shares with its subgraphs.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) run_id: OnceLock<String>,
    /// What the stream needs to know about the start of the run; `None` without a stream.
    pub(crate) start: Option<Arc<RunStart>>,
    pub(crate) thread: Option<String>,
    /// The resources of the run itself.
    pub(crate) resources: Resources,
    pub(crate) metadata: Metadata,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) max_concurrency: Option<usize>,
    pub(crate) fail_fast: bool,
    /// The keys of running graphs with `Persistence::PerThread`.
    pub(crate) kept_graphs: Lock<BTreeSet<String>>,
    /// The unfilled joins of graphs that have ended.
    pub(crate) unfilled_joins: Lock<Vec<UnfilledJoin>>,
    /// True once there was one: most runs have none, and take no lock for each superstep.
    pub(crate) had_unfilled_joins: AtomicBool,
    /// True if a new input drops what a graph has left, and closes no open tool calls.
    pub(crate) drops_open: bool,
    /// True for a run of recovery, which goes on where another run was cut off.
    pub(crate) recovers: bool,
    /// True once the run, or a subgraph of it, has paused at a breakpoint.
    pub(crate) at_breakpoint: AtomicBool,
    /// Where the run pauses in subgraphs: paths of nodes, as [`below`](crate::graph::breakpoint_paths::below)
    /// reads them.
    pub(crate) paths_before: Vec<NodeName>,
    pub(crate) paths_after: Vec<NodeName>,
    /// How the run ends if it is dropped; it knows the lease of the thread.
    pub(crate) guard: Option<Arc<RunGuard>>,
}

impl Shared {
    /// Returns what engines share that run nothing on a thread, and change it from outside.
    pub(crate) fn of_thread(thread: &str) -> Self {
        Self {
            thread: Some(thread.to_owned()),
            ..Self::default()
        }
    }

    /// Records that a superstep of the root graph begins.
    #[inline]
    pub(crate) fn begin_superstep(&self) {
        if let Some(start) = &self.start {
            start.begin_superstep();
        }
    }

    /// Records that a node has taken the answer to `key`.
    pub(crate) fn answer_taken(&self, key: &str) {
        if let Some(start) = &self.start {
            start.answer_taken(key);
        }
    }

    /// Records the interrupts that the run has answers for.
    pub(crate) fn expect_answers<'a>(&self, keys: impl Iterator<Item = &'a String>) {
        if let Some(start) = &self.start {
            start.expect(keys.cloned());
        }
    }

    /// Reports the unfilled joins of a graph to the run.
    pub(crate) fn report_unfilled_joins(&self, mut unfilled: Vec<UnfilledJoin>) {
        if unfilled.is_empty() {
            return;
        }
        self.had_unfilled_joins.store(true, Ordering::Release);
        let mut shared = self.unfilled_joins.lock();
        // A graph that is called in a loop reports each join once.
        unfilled.retain(|join| !shared.contains(join));
        shared.append(&mut unfilled);
    }

    /// Returns the unfilled joins that the subgraphs of the graph at `path` have left.
    #[inline]
    pub(crate) fn unfilled_joins_below(&self, path: &GraphPath) -> Vec<UnfilledJoin> {
        if self.had_unfilled_joins() {
            return self.known_joins_below(path);
        }
        Vec::new()
    }

    /// Returns false if no graph of the run has left an unfilled join so far.
    #[inline]
    pub(crate) fn had_unfilled_joins(&self) -> bool {
        self.had_unfilled_joins.load(Ordering::Acquire)
    }

    #[cold]
    fn known_joins_below(&self, namespace: &[NodeName]) -> Vec<UnfilledJoin> {
        let shared = self.unfilled_joins.lock();
        let below = shared.iter().filter(|join| {
            join.namespace.len() > namespace.len() && join.namespace.starts_with(namespace)
        });
        below.cloned().collect()
    }

    /// Returns the unfilled joins of all graphs of the run.
    pub(crate) fn take_unfilled_joins(&self) -> Vec<UnfilledJoin> {
        if !self.had_unfilled_joins() {
            return Vec::new();
        }
        std::mem::take(&mut *self.unfilled_joins.lock())
    }

    /// Returns the status of the thread when the run pauses. One that was drained goes on by itself; one
    /// with an open interrupt, or at a breakpoint, waits for a caller.
    pub(crate) fn pause_status(&self, interrupted: bool) -> RunStatus {
        let drains = self.cancel.as_ref().is_some_and(CancelToken::is_draining);
        if interrupted || !drains || self.at_breakpoint.load(Ordering::Relaxed) {
            RunStatus::Interrupted
        } else {
            RunStatus::Drained
        }
    }

    /// Created at first use: most runs never need it.
    pub(crate) fn run_id(&self) -> &str {
        self.run_id
            .get_or_init(|| langgraph_core::new_id().to_string())
    }
}
