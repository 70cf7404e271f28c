//! The log of a thread, and how a run writes to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::coder::Coder;
use super::recorder::Recorder;
use super::snapshot_policy::Snapshots;
use crate::checkpoint::{CheckpointId, CheckpointRecord, Checkpointer, Head, Owner, ThreadKey};
use crate::error::CheckpointError;
use crate::log::{LogHead, RunGuard};
use crate::state::State;

/// The log of a thread, before it is loaded.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) saver: Arc<dyn Checkpointer>,
    pub(crate) key: ThreadKey,
    pub(crate) metadata: Arc<BTreeMap<String, Value>>,
    pub(crate) snapshots: Snapshots,
    /// The call of a persistent subgraph.
    pub(crate) call: Option<Arc<str>>,
    /// False if values are held back without encoding.
    pub(crate) encodes: bool,
    /// True for a write from outside, without a run that continues.
    pub(crate) at_rest: bool,
    /// The id of the next checkpoint, if it is known in advance.
    pub(crate) next: Option<CheckpointId>,
    /// What a run that is dropped owes its thread.
    pub(crate) ending: Option<Arc<RunGuard>>,
}

impl Log {
    /// Returns the root graph's log of a thread.
    pub(crate) fn root(saver: &Arc<dyn Checkpointer>, thread: impl Into<String>) -> Self {
        Self {
            saver: Arc::clone(saver),
            key: ThreadKey::root(thread),
            metadata: Arc::default(),
            snapshots: Snapshots::Anywhere,
            call: None,
            encodes: true,
            at_rest: false,
            next: None,
            ending: None,
        }
    }

    /// Creates a recorder that begins the log.
    pub(crate) fn recorder<S: State>(&self, coder: Coder<S>) -> Recorder<S> {
        let owner = Arc::clone(coder.plan.owner());
        self.recorder_at(coder, None, Some(owner))
    }

    /// Creates a recorder that writes after `head`, and names the owner of the log.
    fn recorder_at<S: State>(
        &self,
        coder: Coder<S>,
        head: Option<Head>,
        owner: Option<Arc<Owner>>,
    ) -> Recorder<S> {
        let saver = Arc::clone(&self.saver);
        let log_head = LogHead::new(saver, self.key.clone(), head, self.encodes)
            .with_owner(owner)
            .with_guard(self.ending.clone());
        let metadata = Arc::clone(&self.metadata);
        let mut recorder = Recorder::new(
            Arc::new(log_head),
            Arc::new(coder),
            metadata,
            self.snapshots,
        );
        recorder.at_rest = self.at_rest;
        recorder.call.clone_from(&self.call);
        recorder.begin_after(head, self.next);
        recorder
    }

    /// Creates a recorder that writes after a loaded checkpoint.
    pub(crate) fn recorder_behind<S: State>(
        &self,
        coder: Coder<S>,
        head: Head,
        stored: Option<&Owner>,
        checkpoint: &CheckpointRecord,
    ) -> Recorder<S> {
        let mut owner = Arc::clone(coder.plan.owner());
        // A change from outside leaves the thread to the graph that runs on it.
        if let Some(stored) = stored
            && self.at_rest
            && stored.graph != owner.graph
        {
            Arc::make_mut(&mut owner).graph.clone_from(&stored.graph);
        }
        let new = stored.is_none_or(|stored| *stored != *owner);
        let mut recorder = self.recorder_at(coder, Some(head), new.then_some(owner));
        recorder.resume(checkpoint);
        recorder
    }

    /// Fails if the saver stores bytes and the graph, or a subgraph, has values that cannot be
    /// stored as bytes.
    pub(crate) fn check<S: State>(&self, coder: &Coder<S>) -> Result<(), CheckpointError> {
        if self.saver.formats().is_none() {
            return Ok(());
        }
        if coder.codec.is_none() {
            let state = std::any::type_name::<S>();
            return Err(CheckpointError::NotStorable { state });
        }
        match &coder.plan.unstorable {
            None => Ok(()),
            Some((node, state)) => Err(CheckpointError::SubgraphNotStorable {
                node: node.to_string(),
                state,
            }),
        }
    }
}
