//! What all routes share.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph_store::Store;

use crate::error::{ApiError, ApiResult};
use crate::graph::ErasedGraph;
use crate::rows::{Assistant, Rows, system_assistant};
use crate::runs::Runs;

pub(crate) struct App {
    pub(crate) rows: Rows,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) graphs: BTreeMap<String, Arc<dyn ErasedGraph>>,
    pub(crate) runs: Runs,
}

impl App {
    pub(crate) fn start(
        rows: Rows,
        store: Arc<dyn Store>,
        graphs: BTreeMap<String, Arc<dyn ErasedGraph>>,
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
        })
    }

    /// Returns the assistant of that id, or of that graph.
    pub(crate) fn assistant(&self, id: &str) -> ApiResult<Assistant> {
        let id_of_graph = self
            .graphs
            .contains_key(id)
            .then(|| system_assistant(id).assistant_id);
        let found = self.rows.assistant(id_of_graph.as_deref().unwrap_or(id))?;
        found
            .filter(|assistant| self.graphs.contains_key(&assistant.graph_id))
            .ok_or_else(|| {
                let graphs: Vec<&str> = self.graphs.keys().map(String::as_str).collect();
                ApiError::invalid(format!(
                    "Invalid assistant: '{id}'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: {}",
                    graphs.join(", ")
                ))
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
