//! Read access to the log of a thread or of a subgraph.

use std::collections::HashMap;
use std::sync::Arc;

use super::load::{Read, load};
use super::loaded::Loaded;
use super::read::subgraphs::{ShownLog, show};
use super::read::walk::Walk;
use super::{Place, Thread};
use crate::checkpoint::{
    CheckpointId, Checkpointer, Fold, ListOptions, Payload, Snapshot, ThreadKey,
};
use crate::error::{AgentError, CheckpointError};
use crate::graph::{CompiledStateGraph, NodeName};
use crate::log::{joined, last_by_edge, load_list};
use crate::record::Coder;
use crate::state::{State, TrackedState};

/// The log of a graph, with everything needed to read it.
pub(super) struct LogView<S: State> {
    pub(super) graph: CompiledStateGraph<S>,
    pub(super) saver: Arc<dyn Checkpointer>,
    pub(super) key: ThreadKey,
    /// The path of nodes to the graph, outermost first.
    pub(super) namespace: Vec<NodeName>,
    /// The state before the first record.
    pub(super) initial: TrackedState<S>,
}

impl<S: State> Thread<S> {
    /// Opens the log of the thread, or of its subgraph; `None` if that has no log yet.
    pub(super) async fn open(&self) -> Result<Option<LogView<S>>, AgentError> {
        let inside = match &self.place {
            Place::Root => return Ok(Some(self.open_root()?)),
            Place::Subgraph(inside) => inside,
        };
        let way = self.resolve(inside).await?;
        let log = way.found.map(|found| self.open_inside(inside, found));
        log.transpose()
    }

    /// Opens the log of the thread itself.
    pub(super) fn open_root(&self) -> Result<LogView<S>, CheckpointError> {
        Ok(LogView {
            saver: Arc::clone(self.saver()?),
            graph: self.graph.clone(),
            key: ThreadKey::root(self.id.clone()),
            namespace: Vec::new(),
            initial: self.graph.plan.unwritten_state(),
        })
    }
}

impl<S: State> LogView<S> {
    fn at(&self, at: Option<CheckpointId>) -> Read<'_, S> {
        Read {
            plan: &self.graph.plan,
            codec: self.graph.codec.or_else(S::codec),
            initial: &self.initial,
            saver: &*self.saver,
            key: &self.key,
            at,
            changes: false,
        }
    }

    pub(super) async fn read(
        &self,
        at: Option<CheckpointId>,
    ) -> Result<Option<Loaded<S>>, AgentError> {
        load(&self.at(at)).await
    }

    /// Returns the current snapshot, with the writes of finished tasks of an unfinished superstep;
    /// or the checkpoint as it was saved.
    pub(super) async fn snapshot(
        &self,
        at: Option<CheckpointId>,
    ) -> Result<Option<Snapshot<S>>, AgentError> {
        let loaded = self.read(at).await?;
        Ok(loaded.map(|loaded| match at {
            None => loaded.live(&self.graph.plan, &self.namespace),
            Some(_) => loaded.saved(&self.namespace),
        }))
    }

    /// As [`snapshot`](Self::snapshot), with the subgraphs of its tasks.
    pub(super) async fn snapshot_with_subgraphs(
        &self,
        at: Option<CheckpointId>,
    ) -> Result<Option<Snapshot<S>>, AgentError> {
        let Some(loaded) = self.read(at).await? else {
            return Ok(None);
        };
        let shown = ShownLog {
            saver: &*self.saver,
            key: &self.key,
            namespace: &self.namespace,
            saved: at.is_some(),
        };
        Ok(Some(show(&self.graph.plan, loaded, shown).await?))
    }

    fn walk(&self) -> Walk<'_, S> {
        Walk {
            read: self.at(None),
        }
    }

    /// Returns some of the log's checkpoints, newest first.
    pub(super) async fn history(
        &self,
        options: ListOptions,
    ) -> Result<Vec<Snapshot<S>>, AgentError> {
        let wanted = load_list(&*self.saver, &self.key, options).await?;
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

    /// Returns a checkpoint (`None` means the head) and its ancestors, newest first.
    pub(super) async fn lineage(
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

    /// Returns snapshots for checkpoints that lose their base.
    pub(super) async fn folds(&self, wanted: &[CheckpointId]) -> Result<Vec<Fold>, AgentError> {
        let plan = &self.graph.plan;
        let mut states = Vec::with_capacity(wanted.len());
        self.walk()
            .each(wanted, |state, loaded| {
                states.push((state, loaded.stored));
                Ok(())
            })
            .await?;
        let mut folds = Vec::with_capacity(states.len());
        for (state, stored) in states {
            folds.push(Fold {
                id: stored.checkpoint.id,
                snapshot: self.payload_of_state(state),
                ran: last_by_edge(&*self.saver, &self.key, &stored).await?,
                joined: joined(
                    &*self.saver,
                    &self.key,
                    &stored,
                    &plan.topology_joins,
                    &|name| plan.renamed(name),
                )
                .await?,
            });
        }
        Ok(folds)
    }

    fn payload_of_state(&self, state: TrackedState<S>) -> Payload {
        let coder = Coder {
            plan: Arc::clone(&self.graph.plan),
            codec: self.graph.codec.or_else(S::codec),
        };
        Arc::new(coder).state(state).into()
    }
}
