//! Emits the loop's events. It builds no event without a reader.

use std::sync::Arc;

use super::Position;
use super::Task;
use super::{Finished, TaskResult};
use crate::checkpoint::CheckpointId;
use crate::graph::NodeName;
use crate::interrupt::Interrupt;
use crate::message::Message;
use crate::node::{Argument, Write};
use crate::state::State;
use crate::stream::{Emitter, EventTask, MapProgress, Payload, StreamMode, Superstep};

impl<S: State> Position<S> {
    fn emitter(&self, mode: StreamMode) -> Option<&Emitter> {
        self.scope
            .emitter
            .as_ref()
            .filter(|emitter| emitter.wants(mode))
    }

    /// Returns the tasks of a superstep as its events show them; none if the events are not read.
    pub(crate) fn shown_tasks(
        &self,
        tasks: &[Task<S>],
        current: Option<CheckpointId>,
    ) -> Vec<Arc<EventTask>> {
        let Some(emitter) = &self.scope.emitter else {
            return Vec::new();
        };
        let superstep = match current {
            Some(checkpoint) => Superstep::After(checkpoint),
            None => Superstep::Of {
                run: emitter.run,
                step: self.shown_step(),
            },
        };
        // The tasks of a map follow each other.
        let mut first_item = (None, 0);
        let tasks = tasks.iter().enumerate().map(|(index, task)| {
            let is_item = matches!(task.argument, Some(Argument::Item(_)));
            if first_item.0 != Some(task.node) {
                first_item = (Some(task.node), index);
            }
            let item = is_item.then(|| index - first_item.1);
            let node = self.plan.name(task.node);
            let parent = emitter.parent.clone();
            Arc::new(EventTask::new(node, index, item, parent, superstep))
        });
        tasks.collect()
    }

    /// Emits the state. It is shared: the next merge copies it, if a reader still holds it by then.
    pub(crate) async fn emit_values(&self) {
        if let Some(emitter) = self.emitter(StreamMode::Values) {
            let values = Payload::Values(Arc::<S>::clone(&self.state));
            emitter.send(self.shown_step(), None, values).await;
        }
    }

    pub(crate) async fn emit_checkpoint(&self, snapshot: impl FnOnce(bool) -> Option<Payload>) {
        if let Some(emitter) = self.emitter(StreamMode::Checkpoints)
            && let Some(checkpoint) = snapshot(emitter.checkpoint_values)
        {
            emitter.send(self.shown_step(), None, checkpoint).await;
        }
    }

    pub(crate) async fn emit_progress(&self, map: &MapProgress) {
        if let Some(emitter) = self.emitter(StreamMode::Progress) {
            let progress = Payload::Progress(Box::new(map.clone()));
            emitter.send(self.shown_step(), None, progress).await;
        }
    }

    pub(crate) async fn emit_breakpoint(&self) {
        if let Some(emitter) = &self.scope.emitter {
            let interrupt = Payload::Interrupt(Vec::new());
            emitter.send(self.shown_step(), None, interrupt).await;
        }
    }

    pub(crate) async fn emit_started(&self, task: &Task<S>, shown: Option<&Arc<EventTask>>) {
        if task.node.is_start() {
            return;
        }
        let Some(emitter) = self.emitter(StreamMode::Tasks) else {
            return;
        };
        let (input, item) = match &task.argument {
            None => (Arc::<S>::clone(&self.state), None),
            Some(Argument::State(state)) => (Arc::clone(state), None),
            Some(Argument::Item(item)) => (Arc::<S>::clone(&self.state), item.to_json().ok()),
        };
        let node = self.plan.name(task.node);
        let started = Payload::TaskStarted { node, input, item };
        emitter.send(self.shown_step(), shown, started).await;
    }

    /// Emits the writes of a task that does not run again.
    pub(crate) async fn emit_kept(
        &self,
        task: &Task<S>,
        shown: Option<&Arc<EventTask>>,
        done: &Finished<S>,
    ) {
        if task.node.is_start() {
            return;
        }
        let node = self.plan.name(task.node);
        let writes = Arc::new(done.output.writes().to_vec());
        if let Some(emitter) = self.emitter(StreamMode::Updates) {
            let update = Payload::Update {
                node: Arc::clone(&node),
                writes: Arc::<Vec<Write<S>>>::clone(&writes),
                cached: true,
            };
            emitter.send(self.shown_step(), shown, update).await;
        }
        // A task of which only the routers run has not started either.
        if task.ran().is_none()
            && let Some(emitter) = self.emitter(StreamMode::Tasks)
        {
            let finished = Payload::TaskFinished {
                node,
                writes,
                error: None,
                interrupts: Vec::new(),
                cached: true,
            };
            emitter.send(self.shown_step(), shown, finished).await;
        }
    }

    /// Emits the end of a task, with its open interrupts.
    pub(crate) async fn emit_ended(
        &self,
        task: &Task<S>,
        shown: Option<&Arc<EventTask>>,
        result: &TaskResult<S>,
        open: Vec<Interrupt>,
    ) {
        let Some(emitter) = &self.scope.emitter else {
            return;
        };
        let step = self.shown_step();
        if task.node.is_start() || task.ran().is_some() {
            // No node has run, but its interrupts must be shown.
            if result.is_interrupted() {
                emitter.send(step, shown, Payload::Interrupt(open)).await;
            }
            return;
        }
        let node = self.plan.name(task.node);
        let mut writes: Arc<Vec<Write<S>>> = Arc::default();
        let mut interrupts = Vec::new();
        let mut error = None;
        let mut cached = false;
        if let Some(done) = result.finished() {
            self.emit_messages(emitter, shown, &node, done).await;
            cached = done.cached;
            if emitter.wants(StreamMode::Updates) || emitter.wants(StreamMode::Tasks) {
                writes = Arc::new(done.output.writes().to_vec());
            }
            if emitter.wants(StreamMode::Updates) {
                let update = Payload::Update {
                    node: Arc::clone(&node),
                    writes: Arc::<Vec<Write<S>>>::clone(&writes),
                    cached: done.cached,
                };
                emitter.send(step, shown, update).await;
            }
        }
        match result {
            TaskResult::Finished(_) => {}
            TaskResult::Interrupted(task) => {
                error = task.refused.as_ref().map(ToString::to_string);
                interrupts = open;
                emitter
                    .send(step, shown, Payload::Interrupt(interrupts.clone()))
                    .await;
            }
            TaskResult::Failed(failure) => error = Some(failure.to_string()),
        }
        if emitter.wants(StreamMode::Tasks) {
            let finished = Payload::TaskFinished {
                node,
                writes,
                error,
                interrupts,
                cached,
            };
            emitter.send(step, shown, finished).await;
        }
    }

    /// Emits the messages that the reader has not received.
    async fn emit_messages(
        &self,
        emitter: &Emitter,
        shown: Option<&Arc<EventTask>>,
        node: &NodeName,
        done: &Finished<S>,
    ) {
        if !emitter.wants(StreamMode::Messages) {
            return;
        }
        for write in done.output.writes() {
            for message in self.new_messages(write) {
                if emitter.first_sight(&message) {
                    let node = Arc::clone(node);
                    let message = Box::new(message);
                    let message = Payload::Message { node, message };
                    emitter.send(self.shown_step(), shown, message).await;
                }
            }
        }
    }

    /// Returns the messages of a write. A whole state contributes its new messages.
    fn new_messages(&self, write: &Write<S>) -> Vec<Message> {
        match write {
            Write::Update(update) | Write::Overwrite(update) => messages::<S>(update),
            Write::State(state) => {
                let before = messages::<S>(&S::clone(&self.state).into());
                let is_new = |message: &Message| {
                    !before.iter().any(|old| match (&old.id, &message.id) {
                        (Some(old), Some(id)) => old == id,
                        _ => old == message,
                    })
                };
                let mut all = messages::<S>(&S::clone(state).into());
                all.retain(is_new);
                all
            }
        }
    }
}

fn messages<S: State>(update: &S::Update) -> Vec<Message> {
    let mut messages = Vec::new();
    S::messages(update, &mut |message| messages.push(message.clone()));
    messages
}
