//! Versions of a graph side by side.

use std::collections::BTreeMap;
use std::fmt;

use langgraph::checkpoint::{
    Batch, CheckpointId, CheckpointRecord, Checkpointer, RunStatus, ThreadKey,
};
use langgraph::error::AgentError;
use langgraph::thread::Thread;
use langgraph::{CompiledStateGraph, State};

use crate::check::check;
use crate::position::{Position, head};

/// The key of the log that says which version a thread was migrated to.
const LOG: &str = "langgraph-versions";

/// The metadata of its records: the checkpoint of the thread at which it was migrated.
const AT: &str = "at";

/// Versions of a graph over one state type and one checkpointer, the oldest first.
///
/// A thread whose run has not ended (it waits, failed, or was cut off) goes on with the version that
/// wrote it, by fingerprint. A new thread, and the next input of a thread whose run has ended, go to
/// the newest version. So does a thread of a version that is not in the list, if the newest version
/// can go on with it.
///
/// The fingerprint distinguishes versions by their nodes and edges. Of two versions that differ only
/// in the code of their nodes, the one added last counts.
#[derive(Clone)]
pub struct Versions<S: State> {
    graphs: Vec<(u64, CompiledStateGraph<S>)>,
}

impl<S: State> Default for Versions<S> {
    fn default() -> Self {
        Self { graphs: Vec::new() }
    }
}

impl<S: State> Versions<S> {
    /// Creates a list without versions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a version; it is the newest from now on. It has the checkpointer and the name of the
    /// others.
    #[must_use]
    #[allow(clippy::should_implement_trait)] // a list of versions is no sum
    pub fn add(mut self, graph: CompiledStateGraph<S>) -> Self {
        let fingerprint = graph.topology().fingerprint();
        self.graphs.retain(|(known, _)| *known != fingerprint);
        self.graphs.push((fingerprint, graph));
        self
    }

    /// Returns the versions, the oldest first, with their fingerprints.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &CompiledStateGraph<S>)> {
        self.graphs
            .iter()
            .map(|(fingerprint, graph)| (*fingerprint, graph))
    }

    /// Returns the newest version.
    ///
    /// # Errors
    ///
    /// [`AgentError::InvalidOption`] if no version was added.
    pub fn newest(&self) -> Result<&CompiledStateGraph<S>, AgentError> {
        let newest = self.graphs.last().map(|(_, graph)| graph);
        newest.ok_or_else(|| {
            AgentError::InvalidOption("there is no version of the graph; `.add(..)` one".to_owned())
        })
    }

    /// Returns a thread, with the version of the graph that goes on with it.
    ///
    /// # Errors
    ///
    /// Those of the saver. If no version in the list wrote the thread, and the newest cannot go on
    /// with it, the error says why.
    pub async fn thread(&self, id: &str) -> Result<Thread<S>, AgentError> {
        let newest = self.newest()?;
        let threads = newest.threads();
        let saver = &**threads.saver()?;
        let Some(at) = Position::read(saver, &ThreadKey::root(id)).await? else {
            return Ok(newest.thread(id));
        };
        if at.is_done {
            return Ok(newest.thread(id));
        }
        let migrated = migrated(saver, id, at.checkpoint).await?;
        let wanted = migrated.unwrap_or(at.graph);
        let mut versions = self.graphs.iter();
        if let Some((_, graph)) = versions.find(|(fingerprint, _)| *fingerprint == wanted) {
            return Ok(graph.thread(id));
        }
        check(newest, id).await?;
        Ok(newest.thread(id))
    }

    /// Migrates a waiting thread: from now on, the newest version goes on with it. Returns the
    /// thread with that version.
    ///
    /// What the thread has, and what it waits for, stays as it is. A run that is under way goes on
    /// with its own version, and so does its thread.
    ///
    /// # Errors
    ///
    /// Those of the saver. If the newest version cannot go on with the thread, the error says why,
    /// and the thread stays with its version.
    pub async fn migrate(&self, id: &str) -> Result<Thread<S>, AgentError> {
        let newest = self.newest()?;
        check(newest, id).await?;
        let threads = newest.threads();
        let saver = &**threads.saver()?;
        if let Some(at) = Position::read(saver, &ThreadKey::root(id)).await? {
            let own = newest.topology().fingerprint();
            let known = migrated(saver, id, at.checkpoint).await?;
            if known.unwrap_or(at.graph) != own {
                mark(saver, id, at.checkpoint, own).await?;
            }
        }
        Ok(newest.thread(id))
    }
}

impl<S: State> fmt::Debug for Versions<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self
            .iter()
            .map(|(fingerprint, _)| format!("{fingerprint:016x}"));
        f.debug_list().entries(shown).finish()
    }
}

/// Returns the version that the thread was migrated to at that checkpoint.
async fn migrated(
    saver: &dyn Checkpointer,
    id: &str,
    at: CheckpointId,
) -> Result<Option<u64>, AgentError> {
    let marked = head(saver, &ThreadKey::per_thread(id, LOG)).await?;
    let marked = marked.map(|stored| stored.checkpoint);
    let here = |record: &CheckpointRecord| {
        let stood = record.metadata.get(AT).and_then(|at| at.as_str());
        stood == Some(&*at.to_string())
    };
    Ok(marked.filter(here).map(|record| record.graph))
}

/// Records that the thread was migrated at that checkpoint. The record is part of the thread: it is
/// copied and deleted with it.
async fn mark(
    saver: &dyn Checkpointer,
    id: &str,
    at: CheckpointId,
    graph: u64,
) -> Result<(), AgentError> {
    let key = ThreadKey::per_thread(id, LOG);
    let head = saver.head(&key).await?;
    let previous = head.map(|head| head.id);
    let metadata = BTreeMap::from([(AT.to_owned(), at.to_string().into())]);
    let record = CheckpointRecord {
        graph,
        ..CheckpointRecord::of_metadata(previous, metadata)
    };
    let batch = Batch {
        head,
        checkpoints: vec![record],
        status: RunStatus::Done,
        ..Batch::default()
    };
    Ok(saver.put(&key, batch).await?)
}
