//! The log of a thread, before it is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::coder::Coder;
use super::machine::Machine;
use super::record::{Recorder, Snapshots};
use super::tip::Tip;
use crate::AgentError;
use crate::checkpoint::{CheckpointError, CheckpointId, Checkpointer, Head, ThreadKey};
use crate::state::State;
use crate::thread::load::{Loaded, Read, load};

/// The log of a thread, before it is read.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) saver: Arc<dyn Checkpointer>,
    pub(crate) key: ThreadKey,
    pub(crate) metadata: BTreeMap<String, Value>,
    pub(crate) snapshots: Snapshots,
    /// The call of a graph that is kept from call to call.
    pub(crate) call: Option<Arc<str>>,
    /// False while values are held back as they are.
    pub(crate) encodes: bool,
    /// True when it is written to from outside, without a run that goes on.
    pub(crate) at_rest: bool,
    /// The id of the next checkpoint, where it is known before.
    pub(crate) next: Option<CheckpointId>,
}

impl Log {
    /// The root graph's log of a thread.
    pub(crate) fn root(saver: &Arc<dyn Checkpointer>, thread: impl Into<String>) -> Self {
        Self {
            saver: Arc::clone(saver),
            key: ThreadKey::root(thread),
            metadata: BTreeMap::new(),
            snapshots: Snapshots::Anywhere,
            call: None,
            encodes: true,
            at_rest: false,
            next: None,
        }
    }

    /// Writes to the log behind `head`.
    pub(crate) fn recorder<S: State>(
        &self,
        machine: &Machine<S>,
        head: Option<Head>,
    ) -> Recorder<S> {
        let saver = Arc::clone(&self.saver);
        let tip = Tip::new(saver, self.key.clone(), head, self.encodes).with_next(self.next);
        let coder = Coder {
            plan: Arc::clone(&machine.plan),
            codec: machine.codec,
        };
        let mut recorder = Recorder::new(Arc::new(tip), Arc::new(coder), self.metadata.clone());
        recorder.at_rest = self.at_rest;
        recorder.within(self.snapshots, self.call.clone())
    }

    /// Goes on behind what was loaded.
    pub(crate) fn recorder_behind<S: State>(
        &self,
        machine: &Machine<S>,
        loaded: &Loaded<S>,
    ) -> Recorder<S> {
        let mut recorder = self.recorder(machine, Some(loaded.head));
        recorder.resume(&loaded.stored.checkpoint);
        recorder
    }

    /// Fails when the saver keeps bytes and the graph, or one inside it, has values that cannot
    /// become any.
    pub(crate) fn check<S: State>(&self, machine: &Machine<S>) -> Result<(), CheckpointError> {
        if self.saver.formats().is_none() {
            return Ok(());
        }
        if machine.codec.is_none() {
            let state = std::any::type_name::<S>();
            return Err(CheckpointError::NotStorable { state });
        }
        match &machine.plan.unstorable {
            None => Ok(()),
            Some((node, state)) => Err(CheckpointError::SubgraphNotStorable {
                node: node.to_string(),
                state,
            }),
        }
    }

    pub(crate) async fn load<S: State>(
        &self,
        machine: &Machine<S>,
        at: Option<CheckpointId>,
    ) -> Result<Option<Loaded<S>>, AgentError> {
        self.check(machine)?;
        let loaded = load(&Read {
            plan: &machine.plan,
            codec: machine.codec,
            initial: &machine.state,
            saver: &*self.saver,
            key: &self.key,
            at,
            changes: machine.changes.is_some(),
        })
        .await?;
        match (loaded, at) {
            (None, Some(id)) => Err(CheckpointError::UnknownCheckpoint {
                thread: self.key.thread.clone(),
                id,
            }
            .into()),
            (loaded, _) => Ok(loaded),
        }
    }
}
