//! Starts runs on threads, with an input.

use super::resume::resume;
use crate::checkpoint::{CheckpointId, RunStatus, Source};
use crate::error::{AgentError, CheckpointError};
use crate::graph::plan::Plan;
use crate::graph::targets::calls_routers;
use crate::graph::thread_policy::OnOpenInterrupt;
use crate::message::open_tool_calls;
use crate::node::{Jump, NodeId, Output};
use crate::record::{Log, Origin};
use crate::state::{FieldSet, State, Write, Writes};
use crate::stream::StreamMode;
use crate::superstep::{Engine, Frontier};
use crate::task::{Task, view};
use crate::thread::loaded::Loaded;
use crate::thread::write::clear;

/// Starts a run with an input. On a thread, the run is a child of its head (or of `at`), whose
/// pending tasks are dropped. Tool calls that they leave open are closed, unless the `policy` says to drop all.
pub(crate) async fn start<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    at: Option<CheckpointId>,
    mut input: Output<S>,
    policy: OnOpenInterrupt,
) -> Result<(), AgentError> {
    let mut loaded = log.load(engine, at).await?;
    // An older checkpoint is a branch of its own: what the head asks stays open there.
    let open = match &loaded {
        Some(loaded) if at.is_none() => loaded.open(&[]),
        _ => Vec::new(),
    };
    if let Some(asking) = loaded.take_if(|_| !open.is_empty()) {
        match policy {
            OnOpenInterrupt::Refuse => {
                return Err(AgentError::InterruptsOpen {
                    thread: log.key.thread.clone(),
                    interrupts: open.into_iter().map(|(_, asked)| asked).collect(),
                });
            }
            OnOpenInterrupt::Keep => return wait_behind(engine, log, asking, input).await,
            OnOpenInterrupt::Dismiss => return dismiss(engine, log, asking, input).await,
            OnOpenInterrupt::Drop => loaded = Some(asking),
        }
    }
    let plan = &engine.position.plan;
    let closes = policy != OnOpenInterrupt::Drop;
    let is_open = |loaded: &mut Loaded<S>| closes && leaves_calls_open(plan, loaded, &input);
    if let Some(mut stopped) = loaded.take_if(is_open) {
        stopped.drop_tasks_of_the_past();
        return dismiss(engine, log, stopped, input).await;
    }
    let mut recorder = log.recorder(engine.coder());
    let mut parent = None;
    if let Some(mut loaded) = loaded {
        if let Some(kept) = loaded.take_kept_input() {
            input = input.after(kept);
        }
        let checkpoint = &loaded.stored.checkpoint;
        recorder = log.recorder_behind_loaded(engine, &loaded);
        parent = Some(checkpoint.id);
        engine.position.step = checkpoint.step + 1;
        engine.position.state = loaded.state;
        engine.position.written = loaded.written;
    }
    engine.observer.recorder = Some(Box::new(recorder));
    begin(engine, parent, input).await
}

/// Stores an input as a child of `parent`, ready to be taken up.
async fn begin<S: State>(
    engine: &mut Engine<S>,
    parent: Option<CheckpointId>,
    mut input: Output<S>,
) -> Result<(), AgentError> {
    // The update of a command with a goto is there before START looks.
    let writes = match &input.jump {
        Jump::To(_) => std::mem::replace(&mut input.writes, Writes::None).into_vec(),
        _ => Vec::new(),
    };
    let wrote = !writes.is_empty();
    for write in ephemeral_part(engine, &writes) {
        input.writes.push(write);
    }
    let entry = engine.observer.entry(writes.clone())?;
    engine.apply_external(writes)?;
    // The input is safe before anything of the program runs, and before a reader learns of its checkpoint. If that is
    // the first node, it is stored together with the superstep that leads there.
    let is_read = engine.position.emits(StreamMode::Checkpoints);
    let routes = calls_routers(&engine.position.plan, NodeId::START, &input.jump);
    let holds = !is_read && !routes && !wrote;
    if let Some(recorder) = engine.observer.recorder.as_mut().filter(|_| holds) {
        recorder.hold_next();
    }
    engine.observer.keep_input(0, input.clone())?;
    engine.begin(input);
    let origin = Origin::child_of(parent, Source::Input);
    engine.record(origin, entry).await?;
    if wrote {
        engine.position.emit_values();
    }
    Ok(())
}

/// Returns the writes to ephemeral fields: they live until the superstep ends that takes the input, and START writes
/// them again, so that the first nodes see them.
fn ephemeral_part<S: State>(engine: &Engine<S>, writes: &[Write<S>]) -> Vec<Write<S>> {
    let (plan, state) = (&engine.position.plan, &engine.position.state);
    let ephemeral = &plan.fields.ephemeral;
    if ephemeral.is_empty() {
        return Vec::new();
    }
    let mut others = FieldSet::first(state.fields().len());
    others.remove_all(ephemeral);
    let mut part = writes.to_vec();
    for write in &mut part {
        if let Write::Update(update) | Write::Overwrite(update) = write {
            state.discard(update, &others);
        }
    }
    let writes_any = |write: &Write<S>| {
        let update = write.update();
        update.is_some_and(|update| !state.written(update).is_empty())
    };
    part.retain(writes_any);
    part
}

/// Puts an input behind the tasks that wait for answers: it joins their superstep, and is merged
/// when they have finished.
async fn wait_behind<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    loaded: Loaded<S>,
    input: Output<S>,
) -> Result<(), AgentError> {
    resume(engine, log, loaded, Vec::new(), None).await?;
    let start = Task::start(input);
    if let Err(error) = keep_start(engine, &start) {
        // The thread may be running again by now. That the input was refused takes precedence over a failure to say so.
        let _ = engine.observer.rest(RunStatus::Failed, &[]).await;
        return Err(error.into());
    }
    if let Some(recorder) = &mut engine.observer.recorder {
        recorder.flush(RunStatus::Running, None).await?;
    }
    engine.frontier.tasks.push(start);
    Ok(())
}

/// Holds the records of an input that joins the pending tasks. Fails if it cannot be encoded.
fn keep_start<S: State>(engine: &mut Engine<S>, start: &Task<S>) -> Result<(), CheckpointError> {
    let place = engine.frontier.tasks.len();
    if let (Some(recorder), Some(known)) = (&mut engine.observer.recorder, start.result()) {
        recorder.keep_entry(Vec::new(), vec![recorder.spec(start)?], Vec::new())?;
        recorder.keep(place, start.node, known, Vec::new())?;
    }
    Ok(())
}

/// Returns true if a run has stopped before its tasks have answered the tool calls of the chat, which no later
/// task will answer; and the input neither answers one nor removes the message that asks. At an older checkpoint,
/// the run has stopped there.
fn leaves_calls_open<S: State>(plan: &Plan<S>, loaded: &Loaded<S>, input: &Output<S>) -> bool {
    if !loaded.has_stopped() || loaded.state.dismiss().is_none() {
        return false;
    }
    let Ok(behind) = view(plan, NodeId::START, &loaded.state, &input.writes) else {
        return true;
    };
    if behind.dismiss().is_none() {
        return false;
    }
    let mut open = open_calls(behind);
    let mut before = open_calls(S::clone(&loaded.state)).into_iter();
    // The ids of calls may come again in a chat, so each stands for one call.
    before.all(|call| {
        let same = open.iter().position(|other| *other == call);
        same.map(|same| open.swap_remove(same)).is_some()
    })
}

/// Returns the ids of the open tool calls in the messages of a state.
fn open_calls<S: State>(state: S) -> Vec<String> {
    let mut messages = Vec::new();
    S::messages(&state.into(), &mut |message| {
        messages.push(message.clone());
    });
    let open = open_tool_calls(&messages).into_iter();
    open.map(|call| call.id.clone()).collect()
}

/// Closes the interrupts of a thread, and its open tool calls: keeps what has finished, and begins with the input.
async fn dismiss<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    loaded: Loaded<S>,
    mut input: Output<S>,
) -> Result<(), AgentError> {
    // The dismissal is stored before the input: one that cannot be stored must not have closed anything.
    log.recorder(engine.coder()).check_input(input.clone())?;
    let kept = clear(engine, log, Some(loaded), true).await?;
    if let Some(jump) = kept {
        // The state has what the kept input wrote.
        let writes = Writes::None;
        input = input.after(Output { writes, jump });
    }
    engine.frontier = Frontier::new(&engine.position);
    let cleared = engine.observer.current();
    engine.position.step += 1;
    begin(engine, cleared, input).await
}
