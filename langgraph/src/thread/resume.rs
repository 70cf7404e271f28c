//! Starts and resumes runs on threads.

use std::sync::Arc;

use super::load::Loaded;
use super::resume_values::{ResumeValue, assign};
use super::task_state::TaskState;
use super::write::copy;
use crate::checkpoint::{Base, CheckpointError, CheckpointId, Source};
use crate::error::AgentError;
use crate::node::{Answer, Jump, Output, Writes};
use crate::state::State;
use crate::superstep::log::{Log, Origin};
use crate::superstep::{Engine, Task};

/// Starts a run with an input. On a thread, the run is a child of its head (or of `at`), whose
/// pending tasks are dropped.
pub(crate) async fn start<S: State>(
    engine: &mut Engine<S>,
    log: Option<Log>,
    at: Option<CheckpointId>,
    mut input: Output<S>,
) -> Result<(), AgentError> {
    if let Some(log) = log {
        let mut recorder = log.recorder(engine, None);
        let mut origin = Origin {
            parent: None,
            base: None,
            source: Source::Input,
        };
        if let Some(loaded) = log.load(engine, at).await? {
            let checkpoint = &loaded.stored.checkpoint;
            recorder = log.recorder_behind_loaded(engine, &loaded);
            origin.parent = Some(checkpoint.id);
            origin.base = Some(Base {
                id: checkpoint.id,
                with_tasks: false,
            });
            engine.budget.step = checkpoint.step + 1;
            engine.cell.state = loaded.state;
        }
        engine.observer.recorder = Some(Box::new(recorder));
        // START's routers see the update of a command with a goto.
        let writes = match &input.jump {
            Jump::To(_) => std::mem::replace(&mut input.writes, Writes::None).into_vec(),
            _ => Vec::new(),
        };
        let wrote = !writes.is_empty();
        let entry = engine.observer.entry(writes.clone())?;
        engine.apply_external(writes)?;
        // The input is stored before the first node starts.
        engine.observer.keep_input(0, input.clone())?;
        engine.frontier.tasks.push(Task::start(input));
        engine.record(origin, entry).await?;
        if wrote {
            engine.moment().emit_values().await;
        }
        return Ok(());
    }
    engine.frontier.tasks.push(Task::start(input));
    Ok(())
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
    engine.scope.shared.expect_answers(keys);
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
    let origin = Origin {
        parent: Some(id),
        base: Some(Base {
            id,
            with_tasks: false,
        }),
        source: Source::Fork,
    };
    let places = copy(engine, log, loaded, origin, command).await?;
    for (task, answer) in answers {
        let task = places.get(task).copied().unwrap_or(task);
        if let Some(task) = engine.frontier.tasks.get_mut(task) {
            task.add_answer(answer.clone());
        }
        if let Some(recorder) = &mut engine.observer.recorder {
            recorder.keep_answers(task, vec![answer]);
            recorder.flush(true).await?;
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
    recorder.flush(true).await?;
    if engine.cell.changes.is_some() {
        engine.cell.changes = loaded.changes.take();
    }
    loaded.restore(engine, thread, Some(recorder))?;
    engine.breakpoints.passed = true;
    let mut joining = Vec::new();
    if let Some(command) = command {
        let plan = Arc::clone(&engine.plan);
        joining = engine.frontier.joining(&plan, command.jump)?;
        let writes = command.writes.into_vec();
        engine.apply_external(writes.clone())?;
        if let Some(recorder) = &mut engine.observer.recorder {
            let tasks = joining.iter().map(|task| recorder.spec(task));
            let tasks = tasks.collect::<Result<_, _>>()?;
            recorder.keep_entry(writes, tasks)?;
            recorder.flush(true).await?;
        }
    }
    engine.moment().emit_values().await;
    engine.emit_checkpoint().await;
    engine.frontier.tasks.extend(joining);
    Ok(())
}
