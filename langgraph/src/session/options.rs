//! The options of one run.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Durability};
use crate::graph::run_options::RunOptions;
use crate::graph::thread_policy::ThreadPolicy;
use crate::log::RunGuard;
use crate::node::Resources;

/// The options of one run, and what only a run has.
#[derive(Clone, Default)]
pub(crate) struct CallOptions {
    pub(crate) run: RunOptions,
    pub(crate) resources: Resources,
    /// The id of the run, where its span has it.
    #[cfg(feature = "tracing")]
    pub(crate) run_id: Option<String>,
    pub(crate) thread: Option<String>,
    pub(crate) at: Option<CheckpointId>,
    /// The caller holds the thread.
    pub(crate) held: bool,
    /// True if recovery begins the run.
    pub(crate) recovers: bool,
    /// How the run ends if it is dropped.
    pub(crate) ending: Option<Arc<RunGuard>>,
}

impl CallOptions {
    pub(crate) fn durability(&self) -> Durability {
        self.run.durability.unwrap_or_default()
    }

    pub(crate) fn thread_policy(&self) -> ThreadPolicy {
        self.run.thread_policy()
    }
}
