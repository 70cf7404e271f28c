//! Checkpoints, as requests name them.

use std::collections::BTreeMap;

use langgraph::checkpoint::CheckpointId;
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, ApiResult};
use crate::graph::{InnerCheckpoint, Namespace};

/// A checkpoint of a thread, or of a subgraph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CheckpointRef {
    thread_id: Option<String>,
    checkpoint_ns: Option<String>,
    checkpoint_id: Option<String>,
    checkpoint_map: Option<BTreeMap<String, String>>,
}

/// Reads a checkpoint's id.
pub(crate) fn checkpoint_id(text: &str) -> ApiResult<CheckpointId> {
    text.parse()
        .map_err(|_| ApiError::invalid(format!("Invalid checkpoint ID '{text}': must be a UUID")))
}

impl CheckpointRef {
    /// Returns the subgraph, unless it is the root graph.
    pub(crate) fn namespace(&self) -> ApiResult<Option<Namespace>> {
        if !self.is_inner() {
            return Ok(None);
        }
        let namespace = self.checkpoint_ns.as_deref().and_then(Namespace::parse);
        let wrong =
            || ApiError::invalid("checkpoint_ns is `node:task`, or several of these and `|`");
        namespace.map(Some).ok_or_else(wrong)
    }

    pub(crate) fn is_inner(&self) -> bool {
        self.checkpoint_ns
            .as_deref()
            .is_some_and(|ns| !ns.is_empty())
    }

    /// Returns the checkpoint of a subgraph, if it is one.
    pub(crate) fn inner(&self) -> ApiResult<Option<InnerCheckpoint>> {
        let Some(namespace) = self.namespace()? else {
            return Ok(None);
        };
        let id = self.id()?;
        let id = id.ok_or_else(|| ApiError::invalid("the checkpoint has no checkpoint_id"))?;
        let root = self.around()?;
        Ok(Some(InnerCheckpoint {
            namespace,
            id,
            root,
        }))
    }

    /// Returns the id of the checkpoint, if it names one.
    pub(crate) fn id(&self) -> ApiResult<Option<CheckpointId>> {
        self.checkpoint_id.as_deref().map(checkpoint_id).transpose()
    }

    /// Returns the checkpoint of the thread around that of a subgraph, if it names one.
    pub(crate) fn around(&self) -> ApiResult<Option<CheckpointId>> {
        let root = self.checkpoint_map.as_ref().and_then(|map| map.get(""));
        root.map(|root| checkpoint_id(root)).transpose()
    }
}
