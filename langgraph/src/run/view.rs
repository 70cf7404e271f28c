//! A log that is looked at: a thread's, or that of a graph inside it.

use std::collections::HashMap;
use std::sync::Arc;

use super::before::{joined, last_by_edge};
use super::history::Walk;
use super::inside::{Looked, show};
use super::load::{Loaded, Read, load};
use crate::AgentError;
use crate::checkpoint::{
    CheckpointError, CheckpointId, Checkpointer, Fold, ListOptions, Payload, Snapshot, ThreadKey,
};
use crate::graph::{CompiledStateGraph, NodeName};
use crate::state::State;

/// The log of a graph, with what is needed to read it.
pub(crate) struct View<'a, S: State> {
    pub(crate) graph: &'a CompiledStateGraph<S>,
    pub(crate) saver: &'a Arc<dyn Checkpointer>,
    pub(crate) key: ThreadKey,
    /// The nodes around the graph, outermost first.
    pub(crate) namespace: Vec<NodeName>,
    /// The state before the first record.
    pub(crate) initial: Arc<S>,
}

impl<S: State> CompiledStateGraph<S> {
    /// The saver, and the key of a thread's own log.
    pub(crate) fn kept(
        &self,
        thread: &str,
    ) -> Result<(&Arc<dyn Checkpointer>, ThreadKey), CheckpointError> {
        match &self.saver {
            Some(saver) => Ok((saver, ThreadKey::root(thread))),
            None => Err(CheckpointError::NoCheckpointer(thread.to_owned())),
        }
    }

    pub(crate) fn view(&self, thread: &str) -> Result<View<'_, S>, CheckpointError> {
        let (saver, key) = self.kept(thread)?;
        Ok(View {
            graph: self,
            saver,
            key,
            namespace: Vec::new(),
            initial: Arc::new(self.plan.initial.clone()),
        })
    }
}

impl<S: State> View<'_, S> {
    fn at(&self, at: Option<CheckpointId>) -> Read<'_, S> {
        Read {
            plan: &self.graph.plan,
            codec: self.graph.codec.or_else(S::codec),
            initial: &self.initial,
            saver: &**self.saver,
            key: &self.key,
            at,
            changes: false,
        }
    }

    pub(crate) async fn read(
        &self,
        at: Option<CheckpointId>,
    ) -> Result<Option<Loaded<S>>, AgentError> {
        load(&self.at(at)).await
    }

    /// The log as it is now, with what finished tasks of an unfinished superstep have written.
    pub(crate) async fn live(&self) -> Result<Option<Snapshot<S>>, AgentError> {
        let loaded = self.read(None).await?;
        Ok(loaded.map(|loaded| loaded.live(&self.graph.plan, &self.namespace)))
    }

    /// The log as that checkpoint was saved.
    pub(crate) async fn saved(&self, at: CheckpointId) -> Result<Option<Snapshot<S>>, AgentError> {
        let loaded = self.read(Some(at)).await?;
        Ok(loaded.map(|loaded| loaded.saved(&self.namespace)))
    }

    /// The log now, or as the checkpoint was saved, with the graphs inside its tasks.
    pub(crate) async fn with_subgraphs(
        &self,
        at: Option<CheckpointId>,
    ) -> Result<Option<Snapshot<S>>, AgentError> {
        let Some(loaded) = self.read(at).await? else {
            return Ok(None);
        };
        let looked = Looked {
            saver: &**self.saver,
            key: &self.key,
            namespace: &self.namespace,
            saved: at.is_some(),
        };
        Ok(Some(show(&self.graph.plan, loaded, looked).await?))
    }

    fn walk(&self) -> Walk<'_, S> {
        Walk {
            read: self.at(None),
        }
    }

    /// Some of the log's checkpoints, newest first.
    pub(crate) async fn history(
        &self,
        options: ListOptions,
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        let wanted = self.saver.list(&self.key, options).await?;
        let mut found = HashMap::with_capacity(wanted.len());
        self.walk()
            .each(&wanted, |_, loaded| {
                let snapshot = loaded.saved(&self.namespace);
                found.insert(snapshot.id, snapshot);
                Ok(())
            })
            .await?;
        Ok(wanted.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// A checkpoint (the head, without one) and those it came from, newest first.
    pub(crate) async fn lineage(
        &self,
        checkpoint: Option<CheckpointId>,
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        let mut history: HashMap<_, _> = self
            .history(ListOptions::default())
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
                thread: self.key.thread.clone(),
                id,
            }
            .into()),
            _ => Ok(lineage),
        }
    }

    /// Snapshots for checkpoints that are to stand alone.
    pub(crate) async fn folds(&self, wanted: &[CheckpointId]) -> Result<Vec<Fold>, AgentError> {
        let plan = &self.graph.plan;
        let mut states = Vec::with_capacity(wanted.len());
        self.walk()
            .each(wanted, |state, loaded| {
                states.push((Arc::clone(state), loaded.stored));
                Ok(())
            })
            .await?;
        let mut folds = Vec::with_capacity(states.len());
        for (state, stored) in states {
            let mut state = Arc::unwrap_or_clone(state);
            state.reset(&plan.fields.untracked);
            folds.push(Fold {
                id: stored.checkpoint.id,
                snapshot: self.payload_of_state(state),
                ran: last_by_edge(&**self.saver, &self.key, &stored).await?,
                joined: joined(&**self.saver, &self.key, plan, &stored).await?,
            });
        }
        Ok(folds)
    }

    fn payload_of_state(&self, state: S) -> Payload {
        let coder = super::coder::Coder {
            plan: Arc::clone(&self.graph.plan),
            codec: self.graph.codec.or_else(S::codec),
        };
        Arc::new(coder).state(Arc::new(state))
    }
}
