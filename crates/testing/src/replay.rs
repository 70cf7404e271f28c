//! Replays of stored threads on today's graph.

mod answered;
mod answers;
mod compare;
pub(crate) mod log;
mod no_interrupt;
mod opened;
mod options;
mod report;
mod requests;
mod saver;
mod stored;
mod superstep;
mod without;

use std::collections::BTreeMap;
use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;

use langgraph::CompiledStateGraph;
use langgraph::checkpoint::{Accepts, Checkpointer, Formats, Saver, ThreadFilter, ThreadKey};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::run::{CancelToken, Run};
use langgraph::state::State;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use compare::Outcome;
use log::Logs;
use options::Options;
pub use report::{Divergence, ReplayReport, ThreadReplay, Unchecked};
use saver::DryRunSaver;
pub(crate) use saver::ThreadSaver;
use superstep::StoredSuperstep;

/// How many threads one query lists.
const PAGE: usize = 1_000;

/// Runs stored threads again on today's graph, and says where they diverge. For CI: a copy of last
/// week's threads, and the graph of the branch.
///
/// Every superstep of a thread starts from what the thread stored before it, with the answers that
/// people gave. What the nodes write, ask, and start is compared with what is stored. The first
/// difference of each thread is its [`Divergence`]. Graphs inside nodes are replayed superstep by
/// superstep, too.
///
/// # What does not happen again
///
/// - Nothing is written to the saver.
/// - Work that runs [`once`](langgraph::Context::once), and every effect, has its stored result. If
///   there is none, the work does not begin, and the task fails.
/// - Models and tools do not answer; the messages that they gave then count. A model whose answers are
///   no messages of the thread answers with [`model`](Replay::model), or its task is
///   [not checked](ThreadReplay::unchecked). Tools that only compute may run: [`run_tools`](Replay::run_tools).
///   That is so for models and tools that are called through this library: `ChatModelExt`,
///   `ModelNode`, `ToolNode`, the ready-made agents.
///   A thread has the answer of a model or a tool as middleware left it: a task in which today's code changes that
///   answer, once more perhaps, is not checked.
/// - Caches of nodes and of tools give no answer of another run, and get none.
/// - Everything else that the code of a node does happens again: its own requests, writes to a store.
///   Name such nodes in [`keep`](Replay::keep), or give the replay [other resources](Replay::resource).
///
/// An interrupt that was answered has to come up again before its answer counts. Therefore the nodes of
/// its superstep run once more for each answer. Tools that do not run ask nothing, and neither does a budget: where they
/// asked, a task is not checked.
///
/// The ids of messages do not count. A task that never ended is not replayed, and neither is one that failed
/// then, without [`retry_failures`](Replay::retry_failures).
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use langgraph::checkpoint::MemorySaver;
/// use langgraph::prelude::*;
/// use langgraph_testing::replay;
///
/// #[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
/// struct Order {
///     euros: i64,
///     rebate: i64,
/// }
///
/// fn shop(percent: i64) -> CompiledStateGraph<Order> {
///     let mut graph = StateGraph::<Order>::new();
///     let rebate = move |order: &Order| OrderUpdate::default().rebate(order.euros * percent / 100);
///     graph.add_node("rebate", rebate).add_sequence(&["rebate"]);
///     graph.compile().unwrap()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let saver = Arc::new(MemorySaver::new());
/// let order = OrderUpdate::default().euros(200);
/// shop(10).checkpointer(saver.clone()).thread("customer-1").run(order).await?;
///
/// assert!(replay(saver.clone(), &shop(10)).await?.is_same());
///
/// let report = replay(saver, &shop(5)).await?;
/// assert_eq!(
///     report.to_string(),
///     "thread `customer-1`, superstep 1, node `rebate`, `rebate`: expected 20, got 10\n\
///      graph `LangGraph`: 1 of 1 threads diverge; 2 supersteps replayed, 0 not checked"
/// );
/// # Ok(())
/// # }
/// ```
pub fn replay<S, C>(saver: Arc<C>, graph: &CompiledStateGraph<S>) -> Replay<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
    C: Saver<Stores: Accepts<S>> + ?Sized,
{
    let attached = graph.clone().checkpointer(saver).threads();
    Replay {
        saver: attached.saver().cloned(),
        attach: |graph, saver| graph.checkpointer(saver),
        json: |state| serde_json::to_value(S::Update::from(state)).unwrap_or_default(),
        graph: graph.clone(),
        filter: ThreadFilter::new(),
        options: Options::default(),
        resources: Vec::new(),
        run_resources: Vec::new(),
        metadata: Metadata::new(),
    }
}

/// A replay of stored threads, which starts when it is awaited; see [`replay`].
#[must_use = "a replay does nothing until it is awaited"]
pub struct Replay<S: State> {
    saver: Result<Arc<dyn Checkpointer>, CheckpointError>,
    attach: fn(CompiledStateGraph<S>, Arc<DryRunSaver>) -> CompiledStateGraph<S>,
    json: fn(S) -> Value,
    graph: CompiledStateGraph<S>,
    filter: ThreadFilter,
    options: Options,
    resources: Vec<AddResource<S>>,
    run_resources: Vec<AddRunResource<S>>,
    /// What the runs of the threads have.
    metadata: Metadata,
}

type AddResource<S> = Arc<dyn Fn(CompiledStateGraph<S>) -> CompiledStateGraph<S> + Send + Sync>;

/// The metadata of a run.
type Metadata = BTreeMap<String, Value>;

type AddRunResource<S> = Arc<dyn Fn(Run<S>, &Metadata) -> Run<S> + Send + Sync>;

impl<S: State> Replay<S> {
    async fn run(mut self) -> Result<ReplayReport, AgentError> {
        let saver = std::mem::replace(&mut self.saver, Err(no_checkpointer()))?;
        for add in &self.resources {
            self.graph = add(self.graph);
        }
        let administration = saver.administration_for("replay")?;
        let name = self.graph.topology().name.clone();
        let mut report = ReplayReport::new(&name);
        let wanted = self.filter.limit.unwrap_or(usize::MAX);
        let mut filter = self.filter.clone().limit(PAGE.min(wanted));
        loop {
            let page = administration.threads(filter.clone()).await?;
            let is_last = page.len() < PAGE;
            if let Some(last) = page.last() {
                filter = filter.after(&last.thread);
            }
            for info in page {
                let other = info.owner.as_ref().filter(|owner| owner.graph != name);
                if let Some(other) = other {
                    report.other_graphs.insert(other.graph.clone());
                } else if report.threads.len() < wanted {
                    let thread = self.thread(&*saver, &info.thread).await;
                    report.threads.extend(or_unreadable(&info.thread, thread)?);
                }
            }
            if is_last || report.threads.len() >= wanted {
                return Ok(report);
            }
        }
    }

    /// Replays a thread up to its first divergence; `None` if its runs have other metadata.
    async fn thread(
        &self,
        saver: &dyn Checkpointer,
        thread: &str,
    ) -> Result<Option<ThreadReplay>, AgentError> {
        let formats = saver.formats().cloned().unwrap_or_default();
        let logs = log::load(saver, thread, &formats).await?;
        if !self.is_selected(&logs) {
            return Ok(None);
        }
        let answers = stored::all(&logs, &formats)?;
        let mut replayed = ThreadReplay::new(thread);
        for (key, at) in log::supersteps(&logs) {
            let Some(log) = logs.get(key) else { continue };
            let superstep = StoredSuperstep {
                thread,
                logs: &logs,
                log,
                at,
                answers: &answers,
                formats: &formats,
            };
            let outcome = match self.superstep(&superstep).await? {
                Ok(outcome) => outcome,
                Err(unchecked) => {
                    replayed.unchecked.extend(unchecked);
                    continue;
                }
            };
            replayed.supersteps += 1;
            match outcome {
                Outcome::Same => replayed.compared += usize::from(!superstep.is_input()),
                Outcome::Unchecked(unchecked) => replayed.unchecked.push(unchecked),
                Outcome::Diverges(divergence) => {
                    replayed.diverges(*divergence);
                    if !self.options.every_divergence {
                        return Ok(Some(replayed));
                    }
                }
            }
        }
        if let Some(then) = &self.options.end_state
            && let Some(now) = self.state(thread, &logs, &formats).await?
            && let Some(divergence) = compare::end(&logs, then, &now, &self.options.ignore)
        {
            replayed.diverges(divergence);
        }
        Ok(Some(replayed))
    }

    /// Returns the state at the end of a thread, which today's reducers make of its writes.
    pub(crate) async fn state(
        &self,
        thread: &str,
        logs: &Logs,
        formats: &Formats,
    ) -> Result<Option<Value>, AgentError> {
        let saver = DryRunSaver::new(ThreadKey::root(thread), formats.clone(), CancelToken::new());
        let saver = Arc::new(saver);
        saver.fill(logs.values()).await?;
        let graph = (self.attach)(self.graph.clone(), saver);
        let snapshot = graph.thread(thread).state().await?;
        Ok(snapshot.map(|snapshot| (self.json)(snapshot.values)))
    }

    /// Returns false if the last run of a thread has other metadata.
    fn is_selected(&self, logs: &Logs) -> bool {
        let last = logs.get(&Vec::new()).and_then(|root| root.records.last());
        let has_other = |(key, value): (&String, &Value)| {
            let own = last.and_then(|last| last.checkpoint.metadata.get(key));
            own.is_some_and(|own| own != value)
        };
        !self.metadata.iter().any(has_other)
    }
}

impl<S: State> IntoFuture for Replay<S> {
    type Output = Result<ReplayReport, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<S: State> fmt::Debug for Replay<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("graph", &self.graph.topology().name)
            .field("filter", &self.filter)
            .field("keep", &self.options.keep)
            .field("ignore", &self.options.ignore)
            .finish_non_exhaustive()
    }
}

/// Returns what was found, or that the thread cannot be read: the others are replayed.
fn or_unreadable(
    thread: &str,
    found: Result<Option<ThreadReplay>, AgentError>,
) -> Result<Option<ThreadReplay>, AgentError> {
    match found {
        Err(AgentError::Checkpoint(error)) if error.is_damage() => {
            let mut unread = ThreadReplay::new(thread);
            unread.unreadable = Some(error.to_string());
            Ok(Some(unread))
        }
        found => found,
    }
}

fn no_checkpointer() -> CheckpointError {
    CheckpointError::storage("the replay has run")
}
