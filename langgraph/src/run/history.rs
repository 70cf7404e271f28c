//! Looking back over a thread.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::change::last_by_edge;
use super::load::{Loaded, Read, Replay};
use super::log::Log;
use crate::AgentError;
use crate::checkpoint::{
    CheckpointError, CheckpointId, Checkpointer, Fold, ListOptions, Payload, Snapshot, ThreadKey,
};
use crate::graph::CompiledStateGraph;
use crate::state::State;

/// Every checkpoint of a log, or some, read chain by chain: each record is read once, whatever
/// number of checkpoints it is part of.
pub(super) struct Walk<'a, S: State> {
    pub(super) read: Read<'a, S>,
}

impl<S: State> Walk<'_, S> {
    /// Hands `see` each wanted checkpoint: its record with the state before its entries, and the
    /// state with them.
    pub(super) async fn each(
        &self,
        wanted: &[CheckpointId],
        mut see: impl FnMut(&Arc<S>, Loaded<S>) -> Result<(), AgentError>,
    ) -> Result<(), AgentError> {
        let mut left: HashSet<CheckpointId> = wanted.iter().copied().collect();
        for id in wanted {
            if !left.contains(id) {
                continue;
            }
            let chain = self.read.saver.load(self.read.key, Some(*id)).await?;
            let Some(chain) = chain else { return Ok(()) };
            let mut replay = Replay::new(self.read.reader(), self.read.initial);
            let mut before = None;
            for stored in &chain.records {
                let state = Arc::clone(replay.before_entries(before, stored, None)?);
                replay.entries(stored, None)?;
                if left.remove(&stored.checkpoint.id) {
                    see(&state, replay.loaded(chain.head, stored.clone())?)?;
                }
                before = Some(stored);
            }
            // It is gone meanwhile.
            left.remove(id);
        }
        Ok(())
    }
}

impl<S: State> CompiledStateGraph<S> {
    pub(super) fn read_options<'a>(
        &'a self,
        saver: &'a dyn Checkpointer,
        key: &'a ThreadKey,
        initial: &'a Arc<S>,
    ) -> Read<'a, S> {
        Read {
            plan: &self.plan,
            codec: self.codec.or_else(S::codec),
            initial,
            saver,
            key,
            at: None,
            changes: false,
        }
    }

    async fn snapshots(
        &self,
        thread: &str,
        wanted: &[CheckpointId],
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        let (saver, key) = self.kept(thread)?;
        let initial = Arc::new(self.plan.initial.clone());
        let walk = Walk {
            read: self.read_options(&**saver, &key, &initial),
        };
        let mut found = HashMap::with_capacity(wanted.len());
        walk.each(wanted, |_, loaded| {
            let snapshot = loaded.saved(&[]);
            found.insert(snapshot.id, snapshot);
            Ok(())
        })
        .await?;
        Ok(wanted.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// The thread's checkpoints, newest first, those of all its branches.
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn history(&self, thread: &str) -> Result<Vec<Snapshot<S>>, AgentError> {
        self.history_with(thread, ListOptions::default()).await
    }

    /// Some of the thread's checkpoints, newest first.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::{ListOptions, MemorySaver, Source};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// graph.run(1).thread("t").await?;
    ///
    /// let inputs = ListOptions::new().source(Source::Input).limit(10);
    /// assert_eq!(graph.history_with("t", inputs).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn history_with(
        &self,
        thread: &str,
        options: ListOptions,
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        let (saver, key) = self.kept(thread)?;
        let ids = saver.list(&key, options).await?;
        self.snapshots(thread, &ids).await
    }

    /// A checkpoint (the head, without one) and those it came from, newest first: one branch of the
    /// thread, to its beginning or to where it was [pruned](Self::prune).
    ///
    /// # Errors
    ///
    /// As [`get_state`](Self::get_state).
    pub async fn lineage(
        &self,
        thread: &str,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        let mut history: HashMap<_, _> = self
            .history(thread)
            .await?
            .into_iter()
            .map(|snapshot| (snapshot.id, snapshot))
            .collect();
        let newest = history.keys().max().copied();
        let mut wanted = checkpoint.or(newest);
        let mut lineage = Vec::new();
        while let Some(snapshot) = wanted.and_then(|id| history.remove(&id)) {
            wanted = snapshot.parent;
            lineage.push(snapshot);
        }
        match checkpoint {
            Some(id) if lineage.is_empty() => Err(CheckpointError::UnknownCheckpoint {
                thread: thread.to_owned(),
                id,
            }
            .into()),
            _ => Ok(lineage),
        }
    }

    /// Snapshots for checkpoints that are to stand alone.
    pub(super) async fn folds(
        &self,
        thread: &str,
        wanted: &[CheckpointId],
    ) -> Result<Vec<Fold>, AgentError> {
        let (saver, key) = self.kept(thread)?;
        let initial = Arc::new(self.plan.initial.clone());
        let walk = Walk {
            read: self.read_options(&**saver, &key, &initial),
        };
        let log = Log::root(saver, thread);
        let mut states = Vec::with_capacity(wanted.len());
        walk.each(wanted, |state, loaded| {
            states.push((Arc::clone(state), loaded.stored));
            Ok(())
        })
        .await?;
        let mut folds = Vec::with_capacity(states.len());
        for (state, stored) in states {
            let mut state = Arc::unwrap_or_clone(state);
            state.reset(&self.plan.fields.untracked);
            folds.push(Fold {
                id: stored.checkpoint.id,
                snapshot: self.payload_of_state(state),
                ran: last_by_edge(&log, &stored).await?,
            });
        }
        Ok(folds)
    }

    fn payload_of_state(&self, state: S) -> Payload {
        let coder = super::coder::Coder {
            plan: Arc::clone(&self.plan),
            codec: self.codec.or_else(S::codec),
        };
        Arc::new(coder).state(Arc::new(state))
    }
}
