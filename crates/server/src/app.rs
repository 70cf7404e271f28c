//! What all routes share.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph_budget::Prices;
use langgraph_store::Store;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::error::{ApiError, ApiResult};
use crate::graph::ErasedGraph;
use crate::guard::{Authenticate, Authorize, Limits, PerOwner, Sources};
use crate::metrics::Metrics;
use crate::rows::{Rows, RowsResult, Run};
use crate::runs::{Retention, Runs};
use crate::saver::Saver;
use crate::webhook::Webhooks;

pub(crate) struct App {
    pub(crate) rows: Arc<Rows>,
    pub(crate) saver: Saver,
    pub(crate) store: Arc<dyn Store>,
    /// The store has an embedder: items are found by their meaning.
    pub(crate) embeds: bool,
    pub(crate) graphs: BTreeMap<String, Arc<dyn ErasedGraph>>,
    pub(crate) runs: Runs,
    pub(crate) authenticate: Option<Box<dyn Authenticate>>,
    pub(crate) authorize: Option<Box<dyn Authorize>>,
    pub(crate) limits: Limits,
    pub(crate) retention: Retention,
    pub(crate) sources: Sources,
    pub(crate) webhooks: Webhooks,
    pub(crate) metrics: Metrics,
    /// What the tokens of models cost.
    pub(crate) prices: Arc<Prices>,
    /// Clients read why a node failed.
    pub(crate) shows_errors: bool,
    /// Makes ids that clients cannot compute.
    pub(crate) secret: String,
    /// One permit for each stream that may be open.
    pub(crate) streams: Arc<Semaphore>,
    /// The streams of each owner.
    pub(crate) owner_streams: PerOwner,
}

impl App {
    /// Makes the default assistants, and starts what happens in the background.
    pub(crate) async fn start(self) -> RowsResult<Arc<Self>> {
        for name in self.graphs.keys() {
            self.rows.create_default_assistant(name).await?;
        }
        let app = Arc::new(self);
        crate::runs::start(&app);
        Ok(app)
    }

    /// Returns an id for something of an owner that a client has named. Nothing else has it, and
    /// other clients cannot compute it.
    pub(crate) fn derived_id(&self, kind: &str, owner: &str, name: &str) -> Uuid {
        let parts = [kind, owner, name].map(|part| format!("{}:{part}", part.len()));
        let mac = hmac_sha256::HMAC::mac(parts.concat().as_bytes(), self.secret.as_bytes());
        let mut bytes = [0; 16];
        for (byte, from) in bytes.iter_mut().zip(mac) {
            *byte = from;
        }
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
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

    /// Returns true if the events of a run are stored: because its client wants so, or because
    /// another process may need them.
    pub(crate) fn stores_events(&self, run: &Run) -> bool {
        self.rows.is_shared() || run.kwargs.resumable
    }
}
