//! Emits the loop's events. It builds no event without a reader.

use std::pin::Pin;
use std::sync::Arc;

use super::task_result::OpenInterrupts;
use super::{Finished, Position, Task};
use crate::checkpoint::{CheckpointId, RunStatus};
use crate::error::NodeError;
use crate::graph::NodeName;
use crate::interrupt::Interrupt;
use crate::message::Message;
use crate::node::Argument;
use crate::state::{State, TrackedState, Writes};
use crate::stream::{Emitter, EventBatch, EventTask, MapProgress, Payload, ShownTasks, StreamMode};

/// A task as its events show it.
type Shown<'a> = Option<&'a Arc<EventTask>>;

/// Waits until the reader of events has left room.
pub(crate) type RoomFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl<S: State> Position<S> {
    #[inline]
    fn emitter(&self, mode: StreamMode) -> Option<&Emitter> {
        self.scope
            .emitter
            .as_deref()
            .filter(|emitter| emitter.wants(mode))
    }

    /// Makes `shown` the tasks of a superstep as its events show them; none if the events are not read.
    pub(crate) fn show_tasks(
        &self,
        tasks: &[Task<S>],
        current: Option<CheckpointId>,
        shown: &mut ShownTasks,
    ) {
        let Some(emitter) = &self.scope.emitter else {
            return shown.clear();
        };
        let superstep = emitter.superstep(current, self.shown_step());
        let names = &self.plan.names;
        if let [
            Task {
                node,
                argument: None,
                ..
            },
        ] = tasks
        {
            shown.next(names, node.index(), superstep, emitter.parent.as_ref());
            return;
        }
        shown.clear();
        // The tasks of a map follow each other.
        let mut first_item = (None, 0);
        for (index, task) in tasks.iter().enumerate() {
            let is_item = matches!(task.argument, Some(Argument::Item(_)));
            if first_item.0 != Some(task.node) {
                first_item = (Some(task.node), index);
            }
            let item = is_item.then(|| index - first_item.1);
            let (node, parent) = (task.node.index(), emitter.parent.clone());
            let new = EventTask::new(names, node, index, item, parent, superstep);
            shown.push(new);
        }
    }

    /// Emits what `build` returns if events of that mode are read.
    #[inline]
    fn emit(
        &self,
        mode: StreamMode,
        shown: Shown<'_>,
        build: impl FnOnce(&Emitter) -> Option<Payload>,
    ) {
        if let Some(emitter) = self.emitter(mode)
            && let Some(payload) = build(emitter)
        {
            emitter.send_batch(self.shown_step(), shown, |events| events.push(payload));
        }
    }

    /// Returns what waits until there is room for the events that were sent, if it is lacking.
    #[inline]
    pub(crate) fn lacks_room(&self) -> Option<RoomFuture<'_>> {
        let emitter = self.scope.emitter.as_deref()?;
        emitter.lacks_room().then(|| Box::pin(emitter.room()) as _)
    }

    /// Emits the state. It is shared: the next merge copies it, if a reader still holds it by then.
    pub(crate) fn emit_values(&self) {
        self.emit(StreamMode::Values, None, |_| Some(self.values()));
    }

    /// Returns the event of the state.
    pub(crate) fn values(&self) -> Payload {
        Payload::Values {
            state: Arc::<S>::clone(&self.state),
            written: self.written.clone(),
        }
    }

    /// Returns true if events of that mode are read.
    #[inline]
    pub(crate) fn emits(&self, mode: StreamMode) -> bool {
        let emitter = self.scope.emitter.as_ref();
        emitter.is_some_and(|emitter| emitter.wants(mode))
    }

    pub(crate) fn emit_checkpoint(&self, snapshot: impl FnOnce(bool) -> Option<Payload>) {
        self.emit(StreamMode::Checkpoints, None, |emitter| {
            snapshot(emitter.checkpoint_values)
        });
    }

    pub(crate) fn emit_progress(&self, map: &MapProgress) {
        self.emit(StreamMode::Progress, None, |_| {
            Some(Payload::Progress(map.clone()))
        });
    }

    /// Emits that the run has paused at a breakpoint, unless it only drains.
    pub(crate) fn emit_breakpoint(&self) {
        if self.scope.shared.pause_status(false) != RunStatus::Drained {
            self.emit_interrupts(None, Vec::new());
        }
    }

    /// Emits interrupts, which readers of every mode see.
    fn emit_interrupts(&self, shown: Shown<'_>, interrupts: Vec<Interrupt>) {
        if let Some(emitter) = &self.scope.emitter {
            emitter.send_batch(self.shown_step(), shown, |events| {
                events.push(Payload::Interrupt(interrupts));
            });
        }
    }

    pub(crate) fn emit_started(&self, task: &Task<S>, shown: Shown<'_>) {
        if task.node.is_start() {
            return;
        }
        self.emit(StreamMode::Tasks, shown, |_| {
            let mut item = None;
            let input = match &task.argument {
                None => self.tracked_state(),
                Some(Argument::State(state)) => TrackedState::unknown(Arc::clone(state)),
                Some(Argument::Item(given)) => {
                    item = given.to_json().ok();
                    self.tracked_state()
                }
            };
            Some(Payload::TaskStarted {
                node: self.plan.name(task.node),
                input: input.state,
                written: input.written,
                item,
            })
        });
    }

    /// Sends the events of a task whose node has run, which `push` adds, if events are read.
    fn emit_end(
        &self,
        task: &Task<S>,
        shown: Shown<'_>,
        push: impl FnOnce(&mut EventBatch<'_, '_>, &NodeName),
    ) {
        let node = self.plan.shared_name(task.node);
        if let (Some(emitter), Some(node)) = (self.scope.emitter.as_deref(), node)
            && has_run(task)
        {
            emitter.send_batch(self.shown_step(), shown, |events| push(events, node));
        }
    }

    /// Emits the writes of a task that does not run again.
    pub(crate) fn emit_kept(&self, task: &Task<S>, shown: Shown<'_>, done: &Finished<S>) {
        let node = self.plan.shared_name(task.node);
        let (Some(emitter), Some(node)) = (&self.scope.emitter, node) else {
            return;
        };
        if task.node.is_start() {
            return;
        }
        let writes = (done.output.writes.clone(), true);
        emitter.send_batch(self.shown_step(), shown, |events| {
            let writes = push_output(events, node, writes, &mut Vec::new());
            // A task of which only the routers run has not started either.
            if task.ran().is_none() {
                push_end(events, node, || TaskEnd {
                    writes,
                    cached: true,
                    ..TaskEnd::default()
                });
            }
        });
    }

    /// Emits the success of a task with its writes; `messages` are those that its output adds.
    pub(crate) fn emit_finished(
        &self,
        task: &Task<S>,
        shown: Shown<'_>,
        written: (Writes<S>, bool),
        messages: &mut Vec<Message>,
    ) {
        self.emit_end(task, shown, |events, node| {
            push_success(events, node, written, messages);
        });
    }

    /// Emits the interrupts of a task, and what its node has done before.
    pub(crate) fn emit_interrupted(
        &self,
        task: &Task<S>,
        shown: Shown<'_>,
        open: &OpenInterrupts<S>,
        interrupts: Vec<Interrupt>,
        messages: &mut Vec<Message>,
    ) {
        // A subgraph at a breakpoint has none: the superstep shows the breakpoint, once.
        let asks = !interrupts.is_empty();
        if !has_run(task) {
            // But its interrupts must be shown.
            if asks {
                self.emit_interrupts(shown, interrupts);
            }
            return;
        }
        let done = open.ran.as_ref();
        let writes = done.map(|done| (done.output.writes.clone(), done.cached));
        let mut ended = TaskEnd {
            error: open.refused.as_ref().map(ToString::to_string),
            interrupts: interrupts.clone(),
            ..TaskEnd::default()
        };
        self.emit_end(task, shown, |events, node| {
            if let Some(writes) = writes {
                ended.cached = writes.1;
                ended.writes = push_output(events, node, writes, messages);
            }
            if asks {
                events.push(Payload::Interrupt(interrupts));
            }
            push_end(events, node, || ended);
        });
    }

    /// Emits the failure of a task.
    pub(crate) fn emit_failed(&self, task: &Task<S>, shown: Shown<'_>, error: &NodeError) {
        let ended = TaskEnd::<S> {
            error: Some(error.to_string()),
            ..TaskEnd::default()
        };
        self.emit_end(task, shown, |events, node| {
            push_end(events, node, || ended);
        });
    }
}

/// Returns true if the node of a task has run in this superstep: if only its routers run again, its output was emitted
/// before.
fn has_run<S: State>(task: &Task<S>) -> bool {
    !task.node.is_start() && task.ran().is_none()
}

/// How a task has ended, for its readers.
struct TaskEnd<S: State> {
    /// `None` if no writes were made, or none are shown.
    writes: Option<Arc<Writes<S>>>,
    error: Option<String>,
    interrupts: Vec<Interrupt>,
    cached: bool,
}

impl_default!([S: State] TaskEnd<S> { writes, error, interrupts, cached });

/// Adds the event of a task's end, which is made only if it is read.
#[inline]
fn push_end<S: State>(
    events: &mut EventBatch<'_, '_>,
    node: &NodeName,
    ended: impl FnOnce() -> TaskEnd<S>,
) {
    if events.wants(StreamMode::Tasks) {
        let ended = ended();
        events.push(Payload::TaskFinished {
            node: Arc::clone(node),
            writes: ended.writes.unwrap_or_default(),
            error: ended.error,
            interrupts: ended.interrupts,
            cached: ended.cached,
        });
    }
}

/// Adds the events of a task that has finished; `messages` are those that its writes add.
#[inline]
pub(crate) fn push_success<S: State>(
    events: &mut EventBatch<'_, '_>,
    node: &NodeName,
    (writes, cached): (Writes<S>, bool),
    messages: &mut Vec<Message>,
) {
    let writes = push_output(events, node, (writes, cached), messages);
    push_end(events, node, || TaskEnd {
        writes,
        cached,
        ..TaskEnd::default()
    });
}

/// Adds the events of a task's output, and returns its writes if the event of its end shows them.
#[inline]
fn push_output<S: State>(
    events: &mut EventBatch<'_, '_>,
    node: &NodeName,
    (writes, cached): (Writes<S>, bool),
    messages: &mut Vec<Message>,
) -> Option<Arc<Writes<S>>> {
    // Before the first event locks the queue: to drop writes is code of the user.
    let writes = events.emitter.shows_writes().then(|| Arc::new(writes));
    if !messages.is_empty() {
        push_messages(events, node, messages);
    }
    let writes = writes?;
    if !events.wants(StreamMode::Updates) {
        return Some(writes);
    }
    let ended = events.wants(StreamMode::Tasks);
    let of_end = ended.then(|| Arc::<Writes<S>>::clone(&writes));
    events.push(Payload::Update {
        node: Arc::clone(node),
        writes,
        cached,
    });
    of_end
}

fn push_messages(events: &mut EventBatch<'_, '_>, node: &NodeName, messages: &mut Vec<Message>) {
    for message in messages.drain(..) {
        if events.emitter.first_sight(&message) {
            events.push(Payload::Message {
                node: Arc::clone(node),
                message,
            });
        }
    }
}
