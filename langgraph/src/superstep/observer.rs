//! The observers of a run: the log of its thread, and the readers of its events.

use crate::checkpoint::{CheckpointId, Payload, RunStatus};
use crate::error::{AgentError, Panicked};
use crate::interrupt::{Interrupt, Interrupts};
use crate::log::Putting;
use crate::message::Message;
use crate::node::{CancelToken, Context, Output, Scope};
use crate::record::Recorder;
use crate::state::{State, Write};
use crate::stream::{ShownTasks, StreamMode};
use crate::task::{Finished, InterruptIds, Pending, Position, Progress, Task, TaskResult};

/// Stores and emits what a run does. It does nothing if there is neither a log nor a reader.
pub(crate) struct Observer<S: State> {
    /// The thread's log, if the run has a thread.
    pub(crate) recorder: Option<Box<Recorder<S>>>,
    pub(crate) interrupt_ids: InterruptIds,
    /// Present while a superstep has maps whose progress is read.
    progress: Option<Box<Progress>>,
    /// The tasks of the superstep as its events show them.
    pub(super) shown: ShownTasks,
    /// The messages that the task adds whose end is emitted next.
    pub(super) messages: Vec<Message>,
}

impl_default!([S: State] Observer<S> { recorder, interrupt_ids, progress, shown, messages });

impl<S: State> Observer<S> {
    /// Returns true if the run's events are read, or its thread is stored.
    #[inline]
    pub(crate) fn watches(&self, position: &Position<S>) -> bool {
        position.scope.emitter.is_some() || self.recorder.is_some()
    }

    /// Returns true if the run has to stop at the end of a superstep, and its thread can go on.
    pub(super) fn drains(&self, scope: &Scope) -> bool {
        let token = scope.shared.cancel.as_ref();
        self.recorder.is_some() && token.is_some_and(CancelToken::is_draining)
    }

    /// Returns true if the outputs of tasks are stored or read.
    #[inline]
    pub(super) fn keeps_output(&self, scope: &Scope) -> bool {
        let emitter = scope.emitter.as_ref();
        self.recorder.is_some() || emitter.is_some_and(|emitter| emitter.shows_writes())
    }

    /// Returns the checkpoint whose tasks run.
    pub(crate) fn current(&self) -> Option<CheckpointId> {
        self.recorder.as_ref()?.current()
    }

    /// Gives the contexts of tasks their places in the log, and the tasks' memories of earlier runs.
    #[inline]
    pub(super) fn restore(
        &self,
        position: &Position<S>,
        contexts: &mut [Context],
        tasks: &[Task<S>],
    ) {
        if let Some(recorder) = &self.recorder {
            recorder.place(contexts);
        }
        if self.interrupt_ids.given.is_empty() && tasks.iter().all(Task::is_new) {
            return;
        }
        for (index, (cx, task)) in contexts.iter_mut().zip(tasks).enumerate() {
            self.interrupt_ids
                .restore_memory(self.current(), position, cx, index, task);
        }
    }

    /// Returns the interrupts of a task as the caller sees them.
    pub(super) fn interrupts(
        &self,
        position: &Position<S>,
        task: &Task<S>,
        index: usize,
        open: Interrupts,
    ) -> Vec<Interrupt> {
        InterruptIds::interrupts(self.current(), position, task, index, open)
    }

    /// Begins the tasks of a superstep, if events are read.
    pub(super) fn tasks_begin(&mut self, position: &Position<S>, tasks: &[Task<S>]) {
        let Some(emitter) = &position.scope.emitter else {
            return;
        };
        let begins = tasks.iter().any(|task| !task.node.is_start());
        if begins && !position.is_subgraph() {
            position.scope.shared.begin_superstep();
        }
        position.show_tasks(tasks, self.current(), &mut self.shown);
        let is_plain = tasks.iter().all(Task::is_plain);
        let maps = (!is_plain).then(|| Progress::of(&position.plan, tasks));
        self.progress = maps.flatten().map(Box::new);
        if !is_plain || emitter.wants(StreamMode::Tasks) {
            self.emit_begun(position, tasks);
        }
    }

    /// Emits the start of tasks, then the writes of tasks that do not run again.
    fn emit_begun(&self, position: &Position<S>, tasks: &[Task<S>]) {
        for (index, task) in tasks.iter().enumerate() {
            let waits = task.result().is_some_and(TaskResult::is_interrupted);
            if !waits && task.ran().is_none() {
                position.emit_started(task, self.shown.get(index));
            }
        }
        for (index, task) in tasks.iter().enumerate() {
            if let Some(done) = task.kept() {
                position.emit_kept(task, self.shown.get(index), done);
            }
        }
        if let Some(progress) = &self.progress {
            for (_, map) in progress.maps() {
                position.emit_progress(map);
            }
        }
    }

    /// Notes the messages of a task before its writes are merged; those of a chain's last task are known.
    #[inline]
    pub(super) fn note_messages(&mut self, position: &Position<S>, result: &TaskResult<S>) {
        if position.scope.emitter.is_some()
            && result.finished().is_none_or(|done| done.merged.is_none())
        {
            position.note_messages(result, &mut self.messages);
        }
    }

    /// Stores and emits the end of a task. If the task ended `alone`, the record of its success is stored with the
    /// next checkpoint, and its writes are taken: they are copied only if both are asked for.
    ///
    /// # Errors
    ///
    /// If the end cannot be stored; but the failure of the task is more important than that.
    pub(super) async fn task_ended(
        &mut self,
        position: &Position<S>,
        task: &Task<S>,
        index: usize,
        result: &mut TaskResult<S>,
        alone: bool,
    ) -> Result<(), AgentError> {
        // The input is stored as one, with the checkpoint that it begins.
        if task.node.is_start() && matches!(result, TaskResult::Finished(_)) {
            return Ok(());
        }
        let stored = self.store_end(position, task, index, result, alone).await;
        let failed = matches!(result, TaskResult::Failed(_));
        if position.scope.emitter.is_some() && (stored.is_ok() || failed) {
            self.emit_end(position, task, index, result, alone);
            if let Some(room) = position.lacks_room() {
                room.await;
            }
        }
        match (stored, result) {
            (Err(_), TaskResult::Failed(error)) => {
                let error = std::mem::replace(error, Panicked::lost().into());
                Err(position.failure(task.node, error))
            }
            (stored, _) => stored,
        }
    }

    async fn store_end(
        &mut self,
        position: &Position<S>,
        task: &Task<S>,
        index: usize,
        result: &mut TaskResult<S>,
        alone: bool,
    ) -> Result<(), AgentError> {
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        let ran = result.finished();
        let joins = ran.map(|_| position.joins_left_in(task.node));
        let joins = joins.unwrap_or_default();
        if let (TaskResult::Finished(done), true) = (&mut *result, alone) {
            let done = done.copy(position.scope.emitter.is_some());
            return Ok(recorder.keep_finished(index, task.node, done, joins)?);
        }
        recorder.keep(index, task.node, result, joins)?;
        let (status, wake_at) = match result {
            TaskResult::Interrupted(open) if alone => {
                let status = position
                    .scope
                    .shared
                    .pause_status(open.interrupts.is_open());
                (status, open.interrupts.first_due())
            }
            TaskResult::Failed(_) if alone => (RunStatus::Failed, None),
            _ => (RunStatus::Running, None),
        };
        recorder.flush(status, wake_at).await
    }

    fn emit_end(
        &mut self,
        position: &Position<S>,
        task: &Task<S>,
        index: usize,
        result: &mut TaskResult<S>,
        alone: bool,
    ) {
        let mut messages = std::mem::take(&mut self.messages);
        let (shown, messages) = (self.shown.get(index), &mut messages);
        match result {
            TaskResult::Finished(done) => {
                let done = done.copy(!alone);
                let written = (done.output.writes, done.cached);
                position.emit_finished(task, shown, written, messages);
            }
            TaskResult::Interrupted(open) => {
                let interrupts = self.interrupts(position, task, index, open.interrupts.clone());
                position.emit_interrupted(task, shown, open, interrupts, messages);
            }
            TaskResult::Failed(error) => position.emit_failed(task, shown, error),
        }
        if !result.is_interrupted() {
            let failed = matches!(result, TaskResult::Failed(_));
            let progress = self.progress.as_deref_mut();
            if let Some(map) = progress.and_then(|progress| progress.ended(task, failed)) {
                position.emit_progress(&map);
            }
        }
    }

    /// Holds an input for the checkpoint that begins with it.
    pub(crate) fn keep_input(&mut self, task: usize, input: Output<S>) -> Result<(), AgentError> {
        match &mut self.recorder {
            None => Ok(()),
            Some(recorder) => Ok(recorder.keep_input(task, Finished::new(input))?),
        }
    }

    /// Encodes writes from outside as an entry; `None` if there are none.
    pub(crate) fn entry(&self, writes: Vec<Write<S>>) -> Result<Option<Payload>, AgentError> {
        match &self.recorder {
            Some(recorder) if !writes.is_empty() => Ok(Some(recorder.writes(writes)?)),
            _ => Ok(None),
        }
    }

    /// Records in the log that no run is active any more, and what the thread waits for.
    pub(crate) async fn rest(
        &mut self,
        status: RunStatus,
        interrupts: &[Interrupt],
    ) -> Result<(), AgentError> {
        let Some(recorder) = &mut self.recorder else {
            return Ok(());
        };
        let due = Interrupt::first_due(interrupts);
        recorder.rest(status, due).await
    }

    /// Stores the end of a superstep. If the run pauses behind it, at a breakpoint, the thread says so at
    /// once: a run that vanishes then is not taken for one that has passed the breakpoint.
    #[inline]
    pub(super) fn store_superstep(
        &mut self,
        position: &Position<S>,
        pending: Pending<'_, S>,
        pauses: bool,
    ) -> Putting<'_> {
        let Some(recorder) = &mut self.recorder else {
            return Putting::stored(Ok(()));
        };
        recorder.pauses = pauses;
        recorder.record_superstep(position, pending)
    }

    /// Emits the checkpoint of the current position.
    #[inline]
    pub(crate) fn emit_checkpoint(&self, position: &Position<S>, pending: Pending<'_, S>) {
        if let Some(recorder) = &self.recorder {
            position.emit_checkpoint(|values| recorder.shown(position, pending, values));
        }
    }
}
