//! Applies changes to a thread from outside.

use std::sync::Arc;

use super::arrived::{drop_pending, keep_arrived};
use super::lease::under_policy;
use super::loaded::Loaded;
use super::log_view::LogView;
use super::offline::offline;
use super::task_state::TaskState;
use super::update::Change;
use super::{Place, StateUpdate, ThreadUpdate};
use crate::checkpoint::{CheckpointId, Source, ThreadKey};
use crate::error::{AgentError, CheckpointError, NodeError};
use crate::graph::{NodeName, START};
use crate::interrupt::Answer;
use crate::log::{RunGuard, last_by_edge, pending_last};
use crate::node::{Jump, NodeId, Output, Resources, Shared};
use crate::record::{Log, Origin, Snapshots};
use crate::state::{State, Writes};
use crate::superstep::{Commit, Engine};
use crate::task::{Finished, Task, TaskResult, Writer, normalize_input};

impl<S: State> ThreadUpdate<S> {
    /// Applies the change, and returns the new checkpoint.
    pub(super) async fn make(self) -> Result<CheckpointId, AgentError> {
        let Self {
            thread,
            change,
            policy,
            create,
        } = self;
        let saver = thread.saver()?;
        let guard = Arc::new(RunGuard::default());
        let change = async {
            match &thread.place {
                Place::Root => {
                    let log = thread.open_root()?;
                    if !create && saver.head(&log.key).await?.is_none() {
                        return Err(CheckpointError::UnknownThread(thread.id.clone()).into());
                    }
                    let resources = thread.graph.plan.resources.clone();
                    let place = (&log.key, thread.at);
                    log.change(place, resources, change, &guard).await
                }
                Place::Subgraph(inside) => thread.change_inside(inside, change, &guard).await,
            }
        };
        under_policy(policy, saver, &thread.id, Arc::clone(&guard), change).await
    }
}

impl<S: State> LogView<S> {
    /// Applies a change to the log, or to its copy under that key, at its head or a checkpoint.
    pub(super) async fn change(
        &self,
        (key, at): (&ThreadKey, Option<CheckpointId>),
        resources: Resources,
        change: Change<S>,
        guard: &Arc<RunGuard>,
    ) -> Result<CheckpointId, AgentError> {
        let initial = self.initial.clone();
        let shared = Shared {
            guard: Some(Arc::clone(guard)),
            ..Shared::of_thread(&key.thread)
        };
        let mut engine = offline(&self.graph, shared, &self.namespace, resources, initial);
        let mut log = Log {
            key: key.clone(),
            snapshots: if key.namespace.is_empty() {
                Snapshots::Anywhere
            } else {
                Snapshots::Never
            },
            at_rest: true,
            ending: Some(Arc::clone(guard)),
            ..Log::root(&self.saver, String::new())
        };
        let loaded = log.load(&engine, at).await?;
        // A change of a call remains a part of it.
        log.call = loaded
            .as_ref()
            .and_then(|loaded| loaded.stored.checkpoint.call.clone());
        apply(&mut engine, &log, loaded, change).await
    }
}

/// Applies a change to a log, and returns the new checkpoint.
async fn apply<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    loaded: Option<Loaded<S>>,
    change: Change<S>,
) -> Result<CheckpointId, AgentError> {
    match change {
        Change::Updates(supersteps) => write(engine, log, loaded, supersteps).await?,
        Change::Input(input) => add_input(engine, log, loaded, input).await?,
        Change::Clear => drop(clear(engine, log, loaded, false).await?),
        Change::Fork => {
            let Some(loaded) = loaded else {
                return Err(CheckpointError::UnknownThread(log.key.thread.clone()).into());
            };
            let checkpoint = &loaded.stored.checkpoint;
            let origin = Origin {
                parent: checkpoint.parent,
                ..Origin::child_of(Some(checkpoint.id), Source::Fork)
            };
            copy(engine, log, loaded, origin, None, Vec::new()).await?;
        }
    }
    made(engine)
}

/// Returns the checkpoint that was written.
fn made<S: State>(engine: &Engine<S>) -> Result<CheckpointId, AgentError> {
    let current = engine.observer.current();
    current.ok_or_else(|| refused("nothing was written"))
}

fn refused(reason: impl Into<String>) -> AgentError {
    CheckpointError::InvalidUpdate(reason.into()).into()
}

/// Restores an engine to the position of a log, and returns the checkpoint.
fn restore<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    loaded: Option<Loaded<S>>,
) -> Result<Option<CheckpointId>, AgentError> {
    let Some(loaded) = loaded else {
        engine.observer.recorder = Some(Box::new(log.recorder(engine.coder())));
        return Ok(None);
    };
    let recorder = log.recorder_behind_loaded(engine, &loaded);
    let id = loaded.stored.checkpoint.id;
    loaded.restore(engine, &log.key.thread, Some(recorder))?;
    Ok(Some(id))
}

async fn write<S: State>(
    engine: &mut Engine<S>,
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
        Some(loaded) => last_by_edge(&*log.saver, &log.key, &loaded.stored).await?,
    };
    let plan = Arc::clone(&engine.position.plan);
    let mut kept = loaded.as_mut().and_then(Loaded::take_kept_input);
    let mut arrived = keep_arrived(log, &mut loaded, &plan).await?;
    let is_input = |update: &StateUpdate<S>| {
        let node = update.written_as(&last, several);
        node.is_ok_and(|node| **node == *START)
    };
    if let Some(loaded) = &mut loaded
        && supersteps
            .first()
            .is_some_and(|updates| updates.iter().any(is_input))
    {
        loaded.forget_ended_run();
    }
    let mut parent = restore(engine, log, loaded)?;
    for updates in supersteps {
        let mut writes = Vec::with_capacity(updates.len());
        let input = kept.take().map(without_successors);
        writes.extend(input.map(|input| (NodeId::START, Finished::new(input))));
        for update in updates {
            let name = update.written_as(&last, several)?;
            let node = plan.stored_node(name);
            let node =
                node.ok_or_else(|| refused(format!("there is no node `{name}` to write as")))?;
            let mut output = update
                .output
                .map_err(|error| engine.position.failure(node, error))?;
            normalize_input(&plan, &mut output);
            writes.push((node, Finished::new(output)));
        }
        parent = Some(superstep(engine, parent, writes, &mut arrived).await?);
    }
    Ok(())
}

/// Commits one superstep of updates, and follows the nodes that they are written as. The nodes that have `arrived` stay
/// pending, and so do in the next superstep those that a join starts in this one.
async fn superstep<S: State>(
    engine: &mut Engine<S>,
    parent: Option<CheckpointId>,
    updates: Vec<(NodeId, Finished<S>)>,
    arrived: &mut Vec<NodeId>,
) -> Result<CheckpointId, AgentError> {
    let plan = Arc::clone(&engine.position.plan);
    let stays = |task: &Task<S>| {
        task.argument.is_none() && (plan.defers(task.node) || arrived.contains(&task.node))
    };
    let written = engine.apply_updates(updates, stays).await?;
    arrived.append(&mut engine.frontier.joined);
    let is_pending = |node: &NodeId| engine.frontier.tasks.iter().any(|task| task.node == *node);
    arrived.retain(is_pending);
    if let Some(recorder) = &mut engine.observer.recorder {
        recorder.past.joined = plan.names_of(arrived);
    }
    let entry = engine.observer.entry(written)?;
    engine
        .record(Origin::child_of(parent, Source::Update), entry)
        .await?;
    made(engine)
}

/// Drops pending tasks. Finished tasks of the superstep keep their results, and their successors
/// run; so do kept inputs. If it `closes` the interrupts, the state's messages get what they lack
/// without them.
///
/// Returns where the kept inputs go.
pub(crate) async fn clear<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    mut loaded: Option<Loaded<S>>,
    closes: bool,
) -> Result<Option<Jump<S>>, AgentError> {
    let plan = Arc::clone(&engine.position.plan);
    let kept = loaded.as_mut().and_then(Loaded::take_kept_input);
    let jump = kept.as_ref().map(|input| input.jump.clone());
    let mut finished = Vec::new();
    let mut ran = Vec::new();
    if let Some(loaded) = &loaded {
        ran = pending_last(&*log.saver, &log.key, &loaded.stored).await?;
        let tasks = loaded.tasks.iter().filter(|task| loaded.has_run(task));
        for task in tasks {
            let node = plan.stored_node(&task.node);
            if let (Some(node), Some(TaskResult::Finished(done))) = (node, &task.result) {
                finished.push((node, done.clone()));
            }
        }
    }
    drop_pending(&mut loaded, &plan);
    let parent = restore(engine, log, loaded)?;
    let writes = finished
        .iter()
        .map(|(node, done)| (Writer::from(*node), done.output.writes.clone()));
    let state = Commit::on_copy(&engine.position, writes.collect()).unwrap_or_else(|| {
        // The results conflict, so none of them is kept.
        finished.clear();
        Arc::clone(&engine.position.state)
    });
    if closes && let Some(mut update) = state.dismiss() {
        plan.initial.prepare(&mut update);
        let closed = without_successors(Output::update(update));
        finished.push((NodeId::START, Finished::new(closed)));
    }
    finished.extend(kept.map(|input| (NodeId::START, Finished::new(input))));
    if let Some(recorder) = &mut engine.observer.recorder {
        recorder.past.ran = ran;
    }
    superstep(engine, parent, finished, &mut Vec::new()).await?;
    Ok(jump)
}

/// Returns an input that is merged, and starts nothing itself.
fn without_successors<S: State>(mut input: Output<S>) -> Output<S> {
    if matches!(input.jump, Jump::Edges) {
        input.jump = Jump::End;
    }
    input
}

async fn add_input<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    mut loaded: Option<Loaded<S>>,
    input: Result<Output<S>, NodeError>,
) -> Result<(), AgentError> {
    let plan = Arc::clone(&engine.position.plan);
    let start = NodeId::START;
    let mut input = input.map_err(|error| engine.position.failure(start, error))?;
    normalize_input(&plan, &mut input);
    let fresh = loaded.is_none();
    // A kept input is merged now: the next input may replace the one that waits.
    let mut merged = Vec::new();
    if let Some(loaded) = &mut loaded {
        if let Some(mut kept) = loaded.take_kept_input() {
            merged = std::mem::replace(&mut kept.writes, Writes::None).into_vec();
            input = input.after(kept);
        }
        // Pending tasks run again beside it; an unused input is replaced.
        loaded
            .tasks
            .retain(|task| !task.joined_in && &*task.node != START);
        loaded.tasks.iter_mut().for_each(TaskState::forget);
        loaded.forget_ended_run();
    }
    let parent = restore(engine, log, loaded)?;
    if !fresh {
        engine.position.step += 1;
    }
    let entry = engine.observer.entry(merged.clone())?;
    engine.apply_external(merged)?;
    engine.frontier.tasks.insert(0, Task::by_edge(start));
    engine.observer.keep_input(0, input)?;
    engine
        .record(Origin::child_of(parent, Source::Input), entry)
        .await
}

/// Stores a checkpoint like `loaded`, whose tasks all run again, with these answers only.
pub(crate) async fn copy<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    mut loaded: Loaded<S>,
    origin: Origin,
    command: Option<Output<S>>,
    mut answers: Vec<(usize, Answer)>,
) -> Result<(), AgentError> {
    let recorder = log.recorder_behind_loaded(engine, &loaded);
    loaded.retain_copied(&mut answers);
    loaded.tasks.iter_mut().for_each(TaskState::forget);
    loaded.restore(engine, &log.key.thread, Some(recorder))?;
    engine.position.step += 1;
    let mut entry = Vec::new();
    if let Some(command) = command {
        entry = command.writes.into_vec();
        engine.apply_external(entry.clone())?;
        for task in engine.frontier.added(&engine.position, command.jump)? {
            let place = engine.frontier.insert(task);
            for (moved, _) in answers.iter_mut().filter(|(task, _)| *task >= place) {
                *moved += 1;
            }
        }
    }
    engine.position.emit_values();
    let entry = engine.observer.entry(entry)?;
    // START has no code: it reuses its input.
    let start = NodeId::START;
    for (index, task) in engine.frontier.tasks.iter().enumerate() {
        if task.node == start
            && let Some(TaskResult::Finished(input)) = task.result()
            && let Some(recorder) = &mut engine.observer.recorder
        {
            recorder.keep_input(index, input.clone())?;
        }
    }
    if let Some(recorder) = &mut engine.observer.recorder {
        recorder.keep_answers_of_next(answers.iter().cloned());
    }
    engine.record(origin, entry).await?;
    for (task, answer) in answers {
        if let Some(task) = engine.frontier.tasks.get_mut(task) {
            task.add_answer(answer);
        }
    }
    Ok(())
}
