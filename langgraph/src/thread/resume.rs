//! Threads: starting, and going on.

use super::load::Loaded;
use super::resume_values::{Given, assign};
use super::task_state::TaskState;
use super::write::copy;
use crate::AgentError;
use crate::checkpoint::{Base, CheckpointError, CheckpointId, Source};
use crate::node::{Answer, Jump, Output, Writes};
use crate::run::ended::Done;
use crate::run::log::Log;
use crate::run::machine::Machine;
use crate::run::record::Origin;
use crate::run::task::Task;
use crate::state::State;

/// Starts a run with an input: on a thread, a child of its head (or of `at`) whose pending tasks
/// are dropped.
pub(crate) async fn start<S: State>(
    machine: &mut Machine<S>,
    log: Option<Log>,
    at: Option<CheckpointId>,
    mut input: Output<S>,
) -> Result<(), AgentError> {
    if let Some(log) = log {
        let mut recorder = log.recorder(machine, None);
        let mut origin = Origin {
            parent: None,
            base: None,
            source: Source::Input,
        };
        if let Some(loaded) = log.load(machine, at).await? {
            let checkpoint = &loaded.stored.checkpoint;
            recorder = log.recorder_behind(machine, &loaded);
            origin.parent = Some(checkpoint.id);
            origin.base = Some(Base {
                id: checkpoint.id,
                with_tasks: false,
            });
            machine.step = checkpoint.step + 1;
            machine.state = loaded.state;
        }
        machine.recorder = Some(Box::new(recorder));
        machine
            .frontier
            .push(Task::by_edge(machine.plan.nodes.len()));
        // The update of a command with a goto is there before START looks.
        let writes = match &input.jump {
            Jump::To(_) => std::mem::replace(&mut input.writes, Writes::None).into_vec(),
            _ => Vec::new(),
        };
        for write in writes.clone() {
            machine.commit().apply(usize::MAX, write)?;
        }
        let wrote = !writes.is_empty();
        let entry = machine.entry(writes)?;
        // The input is safe before the first node starts.
        machine.keep_input(0, &Done::new(input.clone()))?;
        machine.record(origin, entry).await?;
        if wrote {
            machine.tell_values().await;
        }
        machine.frontier.clear();
    }
    machine.start(input).await
}

/// Puts a machine where its thread stands.
pub(crate) async fn proceed<S: State>(
    machine: &mut Machine<S>,
    log: Log,
    at: Option<CheckpointId>,
    given: Vec<Given>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let thread = log.key.thread.clone();
    let Some(mut loaded) = log.load(machine, at).await? else {
        return Err(CheckpointError::UnknownThread(thread).into());
    };
    if let Some(id) = at {
        // Another time is not changed: a copy of it goes on. An update or a copy was made to go on
        // from, once.
        let again = given.is_empty();
        let made = matches!(
            loaded.stored.checkpoint.source,
            Source::Update | Source::Fork
        );
        if loaded.head.id != id || again && !made {
            return fork(machine, &log, loaded, given, command).await;
        }
        if again {
            loaded.tasks.iter_mut().for_each(TaskState::forget);
        }
    }
    let answers = assign(&thread, &loaded.open(&[]), given)?;
    resume(machine, &log, loaded, answers, command).await
}

/// Goes on with a copy of a checkpoint whose tasks all run again, with these answers only.
async fn fork<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    loaded: Loaded<S>,
    given: Vec<Given>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let answers = assign(&log.key.thread, &loaded.asked(&[]), given)?;
    let id = loaded.stored.checkpoint.id;
    let origin = Origin {
        parent: Some(id),
        base: Some(Base {
            id,
            with_tasks: false,
        }),
        source: Source::Fork,
    };
    let places = copy(machine, log, loaded, origin, command).await?;
    for (task, answer) in answers {
        let task = places.get(task).copied().unwrap_or(task);
        if let Some(task) = machine.frontier.get_mut(task) {
            task.add_answer(answer.clone());
        }
        if let Some(recorder) = &mut machine.recorder {
            recorder.keep_answers(task, vec![answer]);
            recorder.flush(true).await?;
        }
    }
    machine.passed = true;
    Ok(())
}

/// Puts a machine where a log stands, with answers to its tasks.
pub(crate) async fn resume<S: State>(
    machine: &mut Machine<S>,
    log: &Log,
    mut loaded: Loaded<S>,
    answers: Vec<(usize, Answer)>,
    command: Option<Output<S>>,
) -> Result<(), AgentError> {
    let thread = &log.key.thread;
    let mut recorder = log.recorder_behind(machine, &loaded);
    for (task, answer) in answers {
        if let Some(state) = loaded.tasks.get_mut(task) {
            state.answers.retain(|old| old.key != answer.key);
            state.answers.push(answer.clone());
        }
        recorder.keep_answers(task, vec![answer]);
    }
    recorder.flush(true).await?;
    if machine.changes.is_some() {
        machine.changes = loaded.changes.take();
    }
    loaded.restore(machine, thread, Some(recorder))?;
    machine.passed = true;
    let mut joining = Vec::new();
    if let Some(command) = command {
        joining = machine.joining(command.jump)?;
        let writes = command.writes.into_vec();
        for write in writes.clone() {
            machine.commit().apply(usize::MAX, write)?;
        }
        if let Some(recorder) = &mut machine.recorder {
            let tasks = joining.iter().map(|task| recorder.spec(task));
            let tasks = tasks.collect::<Result<_, _>>()?;
            recorder.keep_entry(writes, tasks)?;
            recorder.flush(true).await?;
        }
    }
    machine.tell_values().await;
    machine.tell_checkpoint().await;
    machine.frontier.extend(joining);
    Ok(())
}
