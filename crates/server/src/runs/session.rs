//! A run that this process carries out.

use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;

use super::live::Live;
use crate::app::App;
use crate::error::ApiResult;
use crate::graph::ErasedGraph;
use crate::rows::Run;

/// A run that this process carries out.
pub(super) struct Session {
    pub(super) app: Arc<App>,
    pub(super) live: Arc<Live>,
}

impl Drop for Session {
    /// A run that is listed has its leases renewed. If its task panics or is dropped, it must not stay listed: no other
    /// process would take it up.
    fn drop(&mut self) {
        self.app.runs.live.remove(&self.live);
    }
}

impl Session {
    /// Returns the graph of the run, over the saver of the holder of its thread.
    pub(super) fn graph(&self, row: &Run) -> ApiResult<Arc<dyn ErasedGraph>> {
        let graph_id = row.metadata["graph_id"].as_str().unwrap_or_default();
        Ok(self.app.graph(graph_id)?.with_saver(self.saver()))
    }

    /// Returns the saver of the holder of the thread.
    pub(super) fn saver(&self) -> Arc<dyn Checkpointer> {
        let holder: Arc<str> = self.live.claim.holder().into();
        self.app.saver.held_by(&holder)
    }
}
