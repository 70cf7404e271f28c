//! What all routes share.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph_store::Store;
use tokio::sync::Semaphore;

use crate::error::{ApiError, ApiResult};
use crate::graph::ErasedGraph;
use crate::guard::{Authenticate, Limits};
use crate::rows::{Rows, system_assistant};
use crate::runs::Runs;

pub(crate) struct App {
    pub(crate) rows: Rows,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) graphs: BTreeMap<String, Arc<dyn ErasedGraph>>,
    pub(crate) runs: Runs,
    pub(crate) authenticate: Option<Box<dyn Authenticate>>,
    pub(crate) limits: Limits,
    /// One permit for each stream that may be open.
    pub(crate) streams: Arc<Semaphore>,
}

impl App {
    pub(crate) fn start(
        rows: Rows,
        store: Arc<dyn Store>,
        graphs: BTreeMap<String, Arc<dyn ErasedGraph>>,
        authenticate: Option<Box<dyn Authenticate>>,
        limits: Limits,
    ) -> Result<Self, rusqlite::Error> {
        for name in graphs.keys() {
            rows.create_assistant(&system_assistant(name))?;
        }
        rows.fail_unfinished_runs()?;
        Ok(Self {
            rows,
            store,
            graphs,
            runs: Runs::default(),
            authenticate,
            streams: Arc::new(Semaphore::new(limits.streams.min(Semaphore::MAX_PERMITS))),
            limits,
        })
    }

    pub(crate) fn graph(&self, name: &str) -> ApiResult<Arc<dyn ErasedGraph>> {
        let graph = self.graphs.get(name).cloned();
        graph.ok_or_else(|| ApiError::not_found(format!("Graph '{name}' not found")))
    }

    /// Returns the graph that a thread has run, or the only graph.
    pub(crate) fn graph_of_thread(
        &self,
        metadata: &serde_json::Value,
    ) -> ApiResult<Option<Arc<dyn ErasedGraph>>> {
        match metadata["graph_id"].as_str() {
            Some(name) => self.graph(name).map(Some),
            None if self.graphs.len() == 1 => Ok(self.graphs.values().next().cloned()),
            None => Ok(None),
        }
    }
}
