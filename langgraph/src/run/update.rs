//! Changing a thread from outside.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use super::commit::Changes;
use super::ended::{Done, Ended, Unsettled};
use super::load::Loaded;
use super::look::look;
use super::machine::Machine;
use super::options::Options;
use super::prepare::{enter, machine};
use super::record::Origin;
use super::task::Task;
use super::threads::Log;
use crate::AgentError;
use crate::checkpoint::{Base, CheckpointError, CheckpointId, Source, Stored};
use crate::graph::plan::Plan;
use crate::graph::{CompiledStateGraph, NodeName, START};
use crate::node::{IntoOutput, NodeError, Output};
use crate::state::State;

/// One update of a superstep that is written from outside: what, and as which node.
pub struct StateUpdate<S: State> {
    output: Result<Output<S>, NodeError>,
    node: Option<NodeName>,
}

impl<S: State> StateUpdate<S> {
    /// An update: a state, an update, or a command whose `goto` is followed.
    pub fn new(update: impl IntoOutput<S>) -> Self {
        Self {
            output: update.into_output(),
            node: None,
        }
    }

    /// Written as if that node had run: its edges, joins and routers are followed. [`START`]
    /// counts as one.
    #[must_use]
    pub fn as_node(mut self, node: impl Into<NodeName>) -> Self {
        self.node = Some(node.into());
        self
    }
}

impl<S: State> fmt::Debug for StateUpdate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateUpdate")
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

/// A change of a thread, before it is made: await it. It answers with the new checkpoint.
#[must_use = "nothing is changed until it is awaited"]
pub struct ThreadUpdate<S: State> {
    graph: CompiledStateGraph<S>,
    thread: String,
    at: Option<CheckpointId>,
    change: Change<S>,
}

enum Change<S: State> {
    /// Supersteps of updates.
    Updates(Vec<Vec<StateUpdate<S>>>),
    /// An input that is not taken up yet, beside what is pending.
    Input(Result<Output<S>, NodeError>),
    /// Nothing is pending any more.
    Clear,
    /// The same checkpoint again, beside itself.
    Copy,
}

impl<S: State> ThreadUpdate<S> {
    /// Changes the thread at that checkpoint instead of at its head. What came after it is kept.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.at = Some(checkpoint);
        self
    }

    /// Writes as if that node had run, for an update of one superstep; see
    /// [`StateUpdate::as_node`].
    pub fn as_node(mut self, node: impl Into<NodeName>) -> Self {
        if let Change::Updates(supersteps) = &mut self.change {
            let node = node.into();
            for update in supersteps.iter_mut().flatten() {
                update.node = Some(Arc::clone(&node));
            }
        }
        self
    }
}

impl<S: State> fmt::Debug for ThreadUpdate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadUpdate")
            .field("thread", &self.thread)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl<S: State> IntoFuture for ThreadUpdate<S> {
    type Output = Result<CheckpointId, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

/// Changing threads from outside.
impl<S: State> CompiledStateGraph<S> {
    /// Writes to a thread from outside: a new checkpoint, whose update went through the reducers.
    ///
    /// What was pending is dropped; what comes next is what follows the node that the update is
    /// written as. Unless [`as_node`](ThreadUpdate::as_node) says which, that is the node that ran
    /// last by an edge.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("a", |n: &i64| n + 1).add_node("b", |n: &i64| n * 2);
    /// graph.add_sequence(&["a", "b"]).interrupt_before(["b"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// graph.run(1).thread("t").await?; // pauses before `b`
    /// graph.update_state("t", 100).as_node("a").await?;
    /// assert_eq!(graph.proceed("t").await?.into_state(), 200);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_state(
        &self,
        thread: impl Into<String>,
        update: impl IntoOutput<S>,
    ) -> ThreadUpdate<S> {
        self.update_supersteps(thread, [[StateUpdate::new(update)]])
    }

    /// Writes several supersteps from outside, each of several updates, each as a node.
    pub fn update_supersteps<U: IntoIterator<Item = StateUpdate<S>>>(
        &self,
        thread: impl Into<String>,
        supersteps: impl IntoIterator<Item = U>,
    ) -> ThreadUpdate<S> {
        let supersteps = supersteps
            .into_iter()
            .map(|updates| updates.into_iter().collect());
        self.change(thread, Change::Updates(supersteps.collect()))
    }

    /// Puts an input beside what is pending; [`proceed`](Self::proceed) takes it up.
    pub fn add_input(
        &self,
        thread: impl Into<String>,
        input: impl IntoOutput<S>,
    ) -> ThreadUpdate<S> {
        self.change(thread, Change::Input(input.into_output()))
    }

    /// Drops whatever is pending on a thread: nothing comes next.
    pub fn clear_pending(&self, thread: impl Into<String>) -> ThreadUpdate<S> {
        self.change(thread, Change::Clear)
    }

    /// Makes a checkpoint that is the same as another, beside it: a branch to try things on.
    pub fn copy_checkpoint(&self, thread: impl Into<String>) -> ThreadUpdate<S> {
        self.change(thread, Change::Copy)
    }

    fn change(&self, thread: impl Into<String>, change: Change<S>) -> ThreadUpdate<S> {
        ThreadUpdate {
            graph: self.clone(),
            thread: thread.into(),
            at: None,
            change,
        }
    }
}

impl<S: State> ThreadUpdate<S> {
    async fn make(self) -> Result<CheckpointId, AgentError> {
        let saver = self.graph.saver.clone();
        let saver = saver.ok_or_else(|| CheckpointError::NoCheckpointer(self.thread.clone()))?;
        let log = Log {
            at_rest: true,
            ..Log::root(&saver, self.thread.clone())
        };
        let mut machine = machine(&self.graph, &Options::default(), None)?;
        let mut loaded = log.load(&machine, self.at).await?;
        match self.change {
            Change::Updates(supersteps) => {
                write(&mut machine, &log, loaded, supersteps).await?;
            }
            Change::Input(input) => add_input(&mut machine, &log, loaded, input).await?,
            Change::Clear => {
                forget_unknown(&mut loaded, &machine.plan);
                let parent = stand(&mut machine, &log, loaded, &[])?;
                machine.step += 1;
                machine.record(behind(parent, Source::Update), None).await?;
            }
            Change::Copy => {
                let Some(loaded) = loaded else {
                    return Err(CheckpointError::UnknownThread(self.thread).into());
                };
                let origin = Origin {
                    parent: loaded.stored.checkpoint.parent,
                    base: Some(Base {
                        id: loaded.stored.checkpoint.id,
                        with_tasks: false,
                    }),
                    source: Source::Fork,
                };
                copy(&mut machine, &log, loaded, origin, None).await?;
            }
        }
        let made = machine
            .recorder
            .as_ref()
            .and_then(|recorder| recorder.current());
        made.ok_or_else(|| CheckpointError::InvalidUpdate("nothing was written".to_owned()).into())
    }
}

fn refused(reason: impl Into<String>) -> AgentError {
    CheckpointError::InvalidUpdate(reason.into()).into()
}

/// A checkpoint whose state is that of `parent`.
fn behind(parent: Option<CheckpointId>, source: Source) -> Origin {
    Origin {
        parent,
        base: parent.map(|id| Base {
            id,
            with_tasks: false,
        }),
        source,
    }
}

/// Puts a machine where a log stands, with only those of its tasks, and returns the checkpoint.
fn stand<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    loaded: Option<Loaded<S>>,
    keep: &[usize],
) -> Result<Option<CheckpointId>, AgentError> {
    let Some(mut loaded) = loaded else {
        machine.recorder = Some(Box::new(log.recorder(machine, None)));
        return Ok(None);
    };
    let recorder = log.recorder_behind(machine, &loaded);
    let id = loaded.stored.checkpoint.id;
    let tasks = std::mem::take(&mut loaded.tasks);
    let kept = tasks
        .into_iter()
        .enumerate()
        .filter(|(index, _)| keep.contains(index));
    loaded.tasks = kept.map(|(_, task)| task).collect();
    loaded.restore(machine, &log.key.thread, Some(recorder))?;
    Ok(Some(id))
}

/// Drops deferred nodes that the graph has no more, as what is pending is dropped: a thread of a
/// graph that was changed can be moved on.
fn forget_unknown<S: State>(loaded: &mut Option<Loaded<S>>, plan: &Plan<S>) {
    if let Some(loaded) = loaded {
        let deferred = &mut loaded.stored.checkpoint.deferred;
        deferred.retain(|node| plan.stored_index(node).is_some());
    }
}

async fn write<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    mut loaded: Option<Loaded<S>>,
    supersteps: Vec<Vec<StateUpdate<S>>>,
) -> Result<(), AgentError> {
    if supersteps.is_empty() || supersteps.iter().any(Vec::is_empty) {
        return Err(CheckpointError::EmptyUpdate.into());
    }
    let several = supersteps.len() > 1 || supersteps.iter().any(|updates| updates.len() > 1);
    let last = match &loaded {
        None => vec![NodeName::from(START)],
        Some(loaded) => last_by_edge(log, &loaded.stored).await?,
    };
    forget_unknown(&mut loaded, &machine.plan);
    let mut parent = stand(machine, log, loaded, &[])?;
    for updates in supersteps {
        let mut writes = Vec::with_capacity(updates.len());
        for update in updates {
            let name = match (update.node, last.as_slice()) {
                (Some(node), _) => node,
                (None, _) if several => {
                    return Err(refused(
                        "each of several updates says which node it is written as; add `.as_node(..)`",
                    ));
                }
                (None, [node]) => Arc::clone(node),
                (None, nodes) => {
                    return Err(refused(format!(
                        "{} ran last, so the update has to say which node it is written as; add `.as_node(..)`",
                        nodes
                            .iter()
                            .map(|node| format!("`{node}`"))
                            .collect::<Vec<_>>()
                            .join(" and ")
                    )));
                }
            };
            let plan = Arc::clone(&machine.plan);
            let node = if &*name == START {
                Some(plan.nodes.len())
            } else {
                plan.stored_index(&name)
            };
            let node =
                node.ok_or_else(|| refused(format!("there is no node `{name}` to write as")))?;
            let mut output = update
                .output
                .map_err(|error| machine.failure(node, error))?;
            enter(&plan, &mut output);
            writes.push((node, output));
        }
        parent = Some(superstep(machine, parent, writes).await?);
    }
    Ok(())
}

/// Commits one superstep of updates, and follows what they are written as.
async fn superstep<S: State>(
    machine: &mut Machine<S>,
    parent: Option<CheckpointId>,
    updates: Vec<(usize, Output<S>)>,
) -> Result<CheckpointId, AgentError> {
    let plan = Arc::clone(&machine.plan);
    machine.frontier.clear();
    machine.step += 1;
    machine.taken += 1;
    let mut writes = Vec::with_capacity(updates.len());
    let mut directions = Vec::with_capacity(updates.len());
    for (node, output) in updates {
        let cx = machine.context(node);
        let asked = look(&plan, node, &machine.state, &output, &cx).await;
        let routes = asked.map_err(|unsettled| match unsettled {
            Unsettled::Failed(error) => machine.failure(node, error),
            Unsettled::Asked(..) => refused(format!(
                "a router of `{}` asks a question, and an update from outside cannot wait for the answer; say where to go with `Command::goto(..)`",
                plan.node_name(node)
            )),
        })?;
        writes.push((node, output.writes));
        directions.push((node, output.jump, routes));
    }
    machine.changes = Some(Changes::default());
    machine.commit().all(writes)?;
    let written = machine
        .changes
        .take()
        .map_or_else(Vec::new, Changes::into_writes);
    for (node, jump, routes) in directions {
        machine.follow(&plan, node, jump, routes)?;
    }
    machine.settle();
    machine.release_deferred();
    let entry = machine.entry(written)?;
    machine
        .record(behind(parent, Source::Update), entry)
        .await?;
    let made = machine
        .recorder
        .as_ref()
        .and_then(|recorder| recorder.current());
    made.ok_or_else(|| refused("nothing was written"))
}

async fn add_input<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    loaded: Option<Loaded<S>>,
    input: Result<Output<S>, NodeError>,
) -> Result<(), AgentError> {
    let plan = Arc::clone(&machine.plan);
    let start = plan.nodes.len();
    let mut input = input.map_err(|error| machine.failure(start, error))?;
    enter(&plan, &mut input);
    let fresh = loaded.is_none();
    let unfinished = loaded.as_ref().map_or_else(Vec::new, Loaded::unfinished);
    let parent = stand(machine, log, loaded, &unfinished)?;
    if !fresh {
        machine.step += 1;
    }
    machine.frontier.insert(0, Task::by_edge(start));
    machine.keep_input(0, &Done::new(input))?;
    machine.record(behind(parent, Source::Input), None).await
}

/// Stores a checkpoint like `loaded`, whose tasks all run again, without their old answers.
pub(super) async fn copy<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    mut loaded: Loaded<S>,
    origin: Origin,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let recorder = log.recorder_behind(machine, &loaded);
    loaded.tasks.retain(|task| !task.joined_in);
    for task in &mut loaded.tasks {
        task.forget();
    }
    loaded.restore(machine, &log.key.thread, Some(recorder))?;
    machine.step += 1;
    let mut entry = Vec::new();
    if let Some(command) = command {
        let joining = machine.joining(command.jump)?;
        machine.frontier.extend(joining);
        let writes = command.writes.into_vec();
        for write in writes.clone() {
            machine.commit().apply(usize::MAX, write)?;
        }
        entry = writes;
    }
    machine.tell_values().await;
    let entry = machine.entry(entry)?;
    // START has no code: the input that it took up is taken up again.
    let start = machine.plan.nodes.len();
    for (index, task) in machine.frontier.iter().enumerate() {
        if task.node == start
            && let Some(Ended::Finished(input)) = task.prior.as_deref()
            && let Some(recorder) = &mut machine.recorder
        {
            recorder.keep_input(index, input)?;
        }
    }
    machine.record(origin, entry).await
}

/// The nodes that ran last by an edge, before that checkpoint. START counts; sends and updates
/// from outside do not.
pub(super) async fn last_by_edge(log: &Log, from: &Stored) -> Result<Vec<NodeName>, AgentError> {
    if !from.checkpoint.ran.is_empty() {
        return Ok(from.checkpoint.ran.clone());
    }
    let mut base = from.checkpoint.base;
    while let Some(Base { id, with_tasks }) = base {
        let chain = log.saver.load(&log.key, Some(id)).await?;
        let records = chain.map(|chain| chain.records).unwrap_or_default();
        let Some(before) = records.last() else { break };
        if with_tasks {
            let by_edge = before
                .checkpoint
                .tasks
                .iter()
                .filter(|task| task.argument.is_none());
            let mut nodes: Vec<_> = by_edge.map(|task| Arc::clone(&task.node)).collect();
            nodes.dedup();
            if !nodes.is_empty() {
                return Ok(nodes);
            }
        }
        if !before.checkpoint.ran.is_empty() {
            return Ok(before.checkpoint.ran.clone());
        }
        base = before.checkpoint.base;
    }
    Ok(vec![START.into()])
}
