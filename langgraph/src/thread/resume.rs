//! Starts and resumes runs on threads.

use super::load::Loaded;
use super::task_state::TaskState;
use super::write::{clear, copy};
use crate::checkpoint::{CheckpointId, RunStatus, Source};
use crate::error::{AgentError, CheckpointError};
use crate::graph::thread_policy::OnOpenQuestion;
use crate::interrupt::Answer;
use crate::log::{ResumeValue, assign};
use crate::node::{Jump, Output, Write, Writes};
use crate::state::State;
use crate::superstep::log::{Log, Origin};
use crate::superstep::{Engine, Frontier, Task};

/// Starts a run with an input. On a thread, the run is a child of its head (or of `at`), whose
/// pending tasks are dropped.
pub(crate) async fn start<S: State>(
    engine: &mut Engine<S>,
    log: Log,
    at: Option<CheckpointId>,
    input: Output<S>,
    policy: OnOpenQuestion,
) -> Result<(), AgentError> {
    let mut loaded = log.load(engine, at).await?;
    // An older checkpoint is a branch of its own: what the head asks stays open there.
    let open = match &loaded {
        Some(loaded) if at.is_none() => loaded.open(&[]),
        _ => Vec::new(),
    };
    if let Some(asking) = loaded.take_if(|_| !open.is_empty()) {
        match policy {
            OnOpenQuestion::Refuse => {
                return Err(AgentError::QuestionsOpen {
                    thread: log.key.thread,
                    interrupts: open.into_iter().map(|(_, asked)| asked).collect(),
                });
            }
            OnOpenQuestion::Keep => return wait_behind(engine, &log, asking, input).await,
            OnOpenQuestion::Dismiss => return dismiss(engine, &log, asking, input).await,
            OnOpenQuestion::Drop => loaded = Some(asking),
        }
    }
    let mut recorder = log.recorder(engine);
    let mut parent = None;
    if let Some(loaded) = loaded {
        let checkpoint = &loaded.stored.checkpoint;
        recorder = log.recorder_behind_loaded(engine, &loaded);
        parent = Some(checkpoint.id);
        engine.position.step = checkpoint.step + 1;
        engine.position.state = loaded.state;
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
    let entry = engine.observer.entry(writes.clone())?;
    engine.apply_external(writes)?;
    // The input is safe before the first node starts.
    engine.observer.keep_input(0, input.clone())?;
    engine.frontier.tasks.push(Task::start(input));
    let origin = Origin::child_of(parent, Source::Input);
    engine.record(origin, entry).await?;
    if wrote {
        engine.position.emit_values().await;
    }
    Ok(())
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
    let place = engine.frontier.tasks.len();
    if let (Some(recorder), Some(known)) = (&mut engine.observer.recorder, start.result()) {
        recorder.keep_entry(Vec::new(), vec![recorder.spec(&start)?])?;
        recorder.keep(place, start.node, known)?;
        recorder.flush(RunStatus::Running).await?;
    }
    engine.frontier.tasks.push(start);
    Ok(())
}

/// Closes the questions of a thread: keeps what has finished beside them, answers what the state
/// leaves open, and begins with the input.
async fn dismiss<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    loaded: Loaded<S>,
    mut input: Output<S>,
) -> Result<(), AgentError> {
    clear(engine, log, Some(loaded)).await?;
    engine.frontier = Frontier::new(&engine.position.plan);
    if let Some(mut update) = engine.position.state.dismiss() {
        engine.position.plan.initial.prepare(&mut update);
        let mut writes = Writes::from(vec![Write::Update(update)]);
        writes.extend(std::mem::replace(&mut input.writes, Writes::None));
        input.writes = writes;
    }
    let cleared = engine.observer.current();
    engine.position.step += 1;
    begin(engine, cleared, input).await
}

/// Restores an engine to the position of its thread.
pub(crate) async fn proceed<S: State>(
    engine: &mut Engine<S>,
    log: Log,
    at: Option<CheckpointId>,
    given: Vec<ResumeValue>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let thread = log.key.thread.clone();
    let Some(mut loaded) = log.load(engine, at).await? else {
        return Err(CheckpointError::UnknownThread(thread).into());
    };
    if let Some(id) = at {
        // The past does not change: a copy of it continues. An update or a copy exists to continue
        // from it, once.
        let again = given.is_empty();
        let made = matches!(
            loaded.stored.checkpoint.source,
            Source::Update | Source::Fork
        );
        if loaded.head.id != id || again && !made {
            return fork(engine, &log, loaded, given, command).await;
        }
        if again {
            loaded.tasks.iter_mut().for_each(TaskState::forget);
        }
    }
    let answers = assign(&thread, &loaded.open(&[]), given)?;
    expect(engine, &answers);
    resume(engine, &log, loaded, answers, command).await
}

/// Registers the answers that nodes have to take before the run counts as accepted.
fn expect<S: State>(engine: &Engine<S>, answers: &[(usize, Answer)]) {
    let keys = answers.iter().map(|(_, answer)| &answer.key);
    engine.position.scope.shared.expect_answers(keys);
}

/// Continues with a copy of a checkpoint whose tasks all run again, with these answers only.
async fn fork<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    loaded: Loaded<S>,
    given: Vec<ResumeValue>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let answers = assign(&log.key.thread, &loaded.asked(&[]), given)?;
    expect(engine, &answers);
    let id = loaded.stored.checkpoint.id;
    let origin = Origin::child_of(Some(id), Source::Fork);
    let places = copy(engine, log, loaded, origin, command).await?;
    for (task, answer) in answers {
        let task = places.get(task).copied().unwrap_or(task);
        if let Some(task) = engine.frontier.tasks.get_mut(task) {
            task.add_answer(answer.clone());
        }
        if let Some(recorder) = &mut engine.observer.recorder {
            recorder.keep_answers(task, vec![answer]);
            recorder.flush(RunStatus::Running).await?;
        }
    }
    engine.breakpoints.passed = true;
    Ok(())
}

/// Restores an engine to the position of a log, with answers to its tasks.
pub(crate) async fn resume<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
    mut loaded: Loaded<S>,
    answers: Vec<(usize, Answer)>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let thread = &log.key.thread;
    let mut recorder = log.recorder_behind_loaded(engine, &loaded);
    for (task, answer) in answers {
        if let Some(state) = loaded.tasks.get_mut(task) {
            state.answers.retain(|old| old.key != answer.key);
            state.answers.push(answer.clone());
        }
        recorder.keep_answers(task, vec![answer]);
    }
    recorder.flush(RunStatus::Running).await?;
    if engine.changes.is_some() {
        engine.changes = loaded.changes.take();
    }
    loaded.restore(engine, thread, Some(recorder))?;
    engine.forget_conflicting_results();
    engine.breakpoints.passed = true;
    let mut added = Vec::new();
    if let Some(command) = command {
        added = engine.frontier.added(&engine.position, command.jump)?;
        let writes = command.writes.into_vec();
        engine.apply_external(writes.clone())?;
        if let Some(recorder) = &mut engine.observer.recorder {
            let tasks = added.iter().map(|task| recorder.spec(task));
            let tasks = tasks.collect::<Result<_, _>>()?;
            recorder.keep_entry(writes, tasks)?;
            recorder.flush(RunStatus::Running).await?;
        }
    }
    engine.position.emit_values().await;
    engine
        .observer
        .emit_checkpoint(&engine.position, &engine.frontier)
        .await;
    engine.frontier.tasks.extend(added);
    Ok(())
}
