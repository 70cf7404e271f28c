//! Resumes runs on threads, with answers.

use crate::checkpoint::{CheckpointId, RunStatus, Source};
use crate::error::{AgentError, CheckpointError};
use crate::interrupt::{Answer, Interrupt};
use crate::log::{ResumeValue, assign, listed};
use crate::node::Output;
use crate::record::{Log, Origin};
use crate::state::State;
use crate::superstep::{Commit, Engine};
use crate::task::{Task, TaskResult, Writer};
use crate::thread::loaded::Loaded;
use crate::thread::task_state::TaskState;
use crate::thread::write::copy;

/// Restores an engine to the position of its thread.
pub(super) async fn resume_at<S: State>(
    engine: &mut Engine<S>,
    log: &Log,
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
            return fork(engine, log, loaded, given, command).await;
        }
        if again {
            loaded.tasks.iter_mut().for_each(TaskState::forget);
        }
    }
    let answers = assign(&thread, &loaded.open(&[]), given);
    let answers = answers.map_err(|error| with_pending(error, &loaded))?;
    expect(engine, &answers);
    resume(engine, log, loaded, answers, command).await
}

/// Says how to go on with a thread that has no interrupt open because its run was cut off before it
/// asked, or asked again.
fn with_pending<S: State>(error: CheckpointError, loaded: &Loaded<S>) -> CheckpointError {
    match (error, loaded.goes_on_at()) {
        (CheckpointError::NothingToResume { thread, key, open }, Some(node)) => {
            let open = format!("{open}; its run was cut off at `{node}`: go on with `proceed()`");
            CheckpointError::NothingToResume { thread, key, open }
        }
        (error, _) => error,
    }
}

/// Refuses answers to interrupts of subgraphs: in a copy of the checkpoint they begin anew, and their interrupts have
/// other ids.
fn check_answerable(
    thread: &str,
    asked: &[(usize, Interrupt)],
    answers: &[(usize, Answer)],
) -> Result<(), CheckpointError> {
    let is_own = |one: &&(usize, Interrupt)| one.1.namespace.is_empty();
    let (own, inner): (Vec<_>, Vec<_>) = asked.iter().partition(is_own);
    let is_answered = |(task, interrupt): &&(usize, Interrupt)| {
        let mut answers = answers.iter();
        answers.any(|(of, answer)| of == task && answer.key == interrupt.id)
    };
    let Some((_, answered)) = inner.into_iter().find(is_answered) else {
        return Ok(());
    };
    Err(CheckpointError::NothingToResume {
        thread: thread.to_owned(),
        key: answered.id.clone(),
        open: format!(
            "{}; `{}` of `{}` was asked in the subgraph `{}`, which begins anew at an older checkpoint: go on without this answer, and answer what it asks then",
            listed(own),
            answered.key,
            answered.node,
            answered.namespace.join("/")
        ),
    })
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
    let asked = loaded.all(&[]);
    let answers = assign(&log.key.thread, &asked, given)?;
    check_answerable(&log.key.thread, &asked, &answers)?;
    expect(engine, &answers);
    let id = loaded.stored.checkpoint.id;
    let origin = Origin::child_of(Some(id), Source::Fork);
    copy(engine, log, loaded, origin, command, answers).await?;
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
    let is_paused = is_paused(log, &loaded);
    let waits = is_paused && engine.position.scope.shared.recovers;
    if is_paused && !waits && !loaded.tasks.is_empty() {
        recorder.keep_begun();
    }
    let goes_on = log.key.namespace.is_empty() && !waits && loaded.goes_on_at().is_some();
    if engine.changes.is_some() {
        engine.changes = loaded.changes.take();
    }
    loaded.restore(engine, thread, Some(recorder))?;
    forget_conflicting_results(engine);
    engine.breakpoints.passed = !waits;
    engine.breakpoints.was_cut_off = waits;
    let mut added = Vec::new();
    if let Some(command) = command {
        added = enter(engine, command)?;
    }
    if let Some(recorder) = &mut engine.observer.recorder {
        // In one batch: a run that goes on after a crash finds the answers and the command, or neither.
        recorder.flush(RunStatus::Running, None).await?;
        // A run that goes on after a breakpoint or a failure, and vanishes, is one that recovery takes up.
        if goes_on {
            recorder.begin_again().await?;
        }
    }
    engine.position.emit_values();
    engine
        .observer
        .emit_checkpoint(&engine.position, engine.frontier.pending());
    engine.frontier.order = engine.frontier.order_with(&added);
    engine.frontier.tasks.extend(added);
    Ok(())
}

/// Applies a command from outside, and holds its record. Returns the tasks that it adds.
fn enter<S: State>(engine: &mut Engine<S>, command: Output<S>) -> Result<Vec<Task<S>>, AgentError> {
    let writes = command.writes.into_vec();
    // Before the tasks are found: there may be one for each item of what is written.
    engine.apply_external(writes.clone())?;
    let added = engine.frontier.added(&engine.position, command.jump)?;
    if let Some(recorder) = &mut engine.observer.recorder {
        let tasks = added.iter().map(|task| recorder.spec(task));
        let tasks = tasks.collect::<Result<_, _>>()?;
        recorder.keep_entry(writes, tasks, engine.frontier.order_with(&added))?;
    }
    Ok(added)
}

/// Returns true if the log ends at a breakpoint that no run has passed.
///
/// A run that was cut off after this record, and before the record of what waits for the run (the graph around
/// it, the queue of a server), is recovered, and pauses there again. Behind the last node of the root graph nothing
/// is left to do. Behind that of a subgraph, no record says that a run has passed the breakpoint: one that is cut
/// off before the graph around records the end pauses once more.
fn is_paused<S: State>(log: &Log, loaded: &Loaded<S>) -> bool {
    let stored = &loaded.stored;
    let has_begun = !stored.tasks.is_empty() || !stored.entries.is_empty();
    let is_last = log.key.namespace.is_empty() && loaded.tasks.is_empty();
    stored.checkpoint.pauses && !has_begun && !is_last
}

/// Lets the tasks run again if an earlier run has left results that cannot be merged: it stopped at
/// their conflict.
fn forget_conflicting_results<S: State>(engine: &mut Engine<S>) {
    let tasks = &mut engine.frontier.tasks;
    let mut writes = Vec::with_capacity(tasks.len());
    for task in &*tasks {
        let Some(TaskResult::Finished(done)) = task.result() else {
            return;
        };
        writes.push((Writer::from(task.node), done.output.writes.clone()));
    }
    if writes.iter().all(|(writer, _)| *writer == Writer::Start) {
        return;
    }
    if Commit::on_copy(&engine.position, writes).is_none() {
        tasks
            .iter_mut()
            .filter(|task| !task.node.is_start())
            .for_each(Task::forget_result);
    }
}
