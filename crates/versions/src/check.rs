//! Which stored threads a graph can go on with.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use langgraph::checkpoint::{Accepts, RunStatus, Saver, Snapshot, ThreadFilter, ThreadKey};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::graph::{NodeName, Topology};
use langgraph::{CompiledStateGraph, State};

use crate::position::Position;

/// How many threads one query lists.
const PAGE: usize = 1_000;

/// What [`check_threads`] has found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The graph.
    pub graph: String,
    /// Its fingerprint.
    pub fingerprint: u64,
    /// Its threads, by name.
    pub threads: Vec<ThreadCheck>,
}

/// What [`check_threads`] has found about one thread.
#[derive(Debug)]
#[non_exhaustive]
pub struct ThreadCheck {
    /// The thread.
    pub thread: String,
    /// The fingerprint of the graph that wrote it last; `None` if its head cannot be read.
    pub fingerprint: Option<u64>,
    /// How its last run stands.
    pub status: RunStatus,
    /// Why the graph cannot go on with it, if it cannot.
    pub error: Option<AgentError>,
    /// What goes on in another way than in the graph that wrote it: fields that have their default or
    /// are not read, joins that start again.
    pub notes: Vec<String>,
}

impl Report {
    /// Returns the threads that the graph cannot go on with.
    pub fn blocked(&self) -> impl Iterator<Item = &ThreadCheck> {
        self.threads.iter().filter(|check| check.error.is_some())
    }

    /// Returns the fingerprints of the versions on which blocked threads can go on: they wait for a node
    /// that this graph does not have. A thread whose values cannot be read is not among them, because the
    /// versions of a graph have one state type.
    pub fn versions_to_keep(&self) -> BTreeSet<u64> {
        let waits = self.blocked().filter(|check| {
            matches!(
                check.error,
                Some(AgentError::Checkpoint(CheckpointError::UnknownNode { .. }))
            )
        });
        waits
            .filter_map(|check| check.fingerprint)
            .filter(|fingerprint| *fingerprint != self.fingerprint)
            .collect()
    }

    /// Returns the threads that another version of the graph wrote last.
    pub fn of_other_versions(&self) -> impl Iterator<Item = &ThreadCheck> {
        let own = self.fingerprint;
        self.threads
            .iter()
            .filter(move |check| check.fingerprint.is_some_and(|written| written != own))
    }
}

/// One line for each thread that is blocked, or goes on in another way; which versions those need whose
/// node is gone; and a line with the sums.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.threads {
            if let Some(error) = &check.error {
                writeln!(f, "blocked: {error}")?;
            }
            for note in &check.notes {
                writeln!(f, "thread `{}`: {note}", check.thread)?;
            }
        }
        for fingerprint in self.versions_to_keep() {
            writeln!(
                f,
                "to go on with the threads that version {fingerprint:016x} wrote, keep that version beside this one until they have ended: `Versions::new().add(old).add(new)`"
            )?;
        }
        write!(
            f,
            "graph `{}` ({:016x}): {} threads, {} of other versions, {} blocked",
            self.graph,
            self.fingerprint,
            self.threads.len(),
            self.of_other_versions().count(),
            self.blocked().count()
        )
    }
}

/// Says which stored threads of a graph it can go on with, and why not with the others. It runs
/// nothing and writes nothing.
///
/// A thread is blocked if its state cannot be read, if it waits for a node that the graph does not
/// have, or if a pending worker does not take the item that is stored for it; also in a subgraph that is
/// a node. One that is damaged is blocked too, and does not keep the others from being checked. It does not see what node functions do. Threads that a graph of another name has run on are
/// left out.
///
/// # Errors
///
/// Those of the saver; [`NoAdministration`](langgraph::error::CheckpointError::NoAdministration)
/// if it cannot list threads.
pub async fn check_threads<S: State, C: Saver<Stores: Accepts<S>> + ?Sized>(
    saver: Arc<C>,
    graph: &CompiledStateGraph<S>,
) -> Result<Report, AgentError> {
    let graph = graph.clone().checkpointer(saver);
    let topology = graph.topology();
    let mut report = Report {
        graph: topology.name.clone(),
        fingerprint: topology.fingerprint(),
        threads: Vec::new(),
    };
    let threads = graph.threads();
    let saver = threads.saver()?;
    let mut filter = ThreadFilter::new().limit(PAGE);
    loop {
        let page = threads.list(filter.clone()).await?;
        let is_last = page.len() < PAGE;
        if let Some(last) = page.last() {
            filter = filter.after(&last.thread);
        }
        for info in page {
            let is_own = info.is_of(&topology.name);
            if !is_own {
                continue;
            }
            let key = ThreadKey::root(&info.thread);
            let fingerprint = match Position::read(&**saver, &key).await {
                Ok(Some(position)) => Some(position.graph),
                Ok(None) => continue,
                Err(error) if error.is_damage() => None,
                Err(error) => return Err(error.into()),
            };
            let checked = match info.error() {
                Some(damage) => Err(damage.into()),
                None => check(&graph, &info.thread).await,
            };
            let (error, notes) =
                checked.map_or_else(|error| (Some(error), Vec::new()), |notes| (None, notes));
            report.threads.push(ThreadCheck {
                thread: info.thread,
                fingerprint,
                status: info.status,
                error,
                notes,
            });
        }
        if is_last {
            return Ok(report);
        }
    }
}

/// Checks one thread. Returns what goes on in another way.
pub(crate) async fn check<S: State>(
    graph: &CompiledStateGraph<S>,
    thread: &str,
) -> Result<Vec<String>, AgentError> {
    let thread = graph.thread(thread);
    let read = thread.check().await?;
    let mut notes: Vec<_> = read.iter().map(ToString::to_string).collect();
    if let Some(snapshot) = thread.state().await? {
        notes.extend(joins_that_start_again(graph.topology(), &snapshot));
    }
    Ok(notes)
}

fn joins_that_start_again<S: State>(topology: &Topology, snapshot: &Snapshot<S>) -> Vec<String> {
    let unfilled = snapshot.unfilled_joins.iter();
    let name = |stored: &NodeName| {
        let node = topology.stored_node(stored);
        node.map_or_else(|| Arc::clone(stored), |node| Arc::clone(&node.name))
    };
    // Those of subgraphs that have ended wait for nothing any more.
    let own = unfilled.filter(|join| join.namespace.is_empty());
    let lost = own.filter(|join| {
        let (target, sources) = (name(&join.target), join.sources.iter().map(name));
        let sources: BTreeSet<NodeName> = sources.collect();
        !topology.joins.iter().any(|now| {
            now.target == target && now.sources.iter().cloned().collect::<BTreeSet<_>>() == sources
        })
    });
    lost.map(|join| format!("{join}, and starts again: no such join is left"))
        .collect()
}
