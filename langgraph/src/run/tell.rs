//! What the loop puts into the event stream. Nothing is built that nobody reads.

use std::sync::Arc;

use super::ended::{Done, Ended};
use super::machine::Machine;
use super::task::Task;
use crate::message::Message;
use crate::node::{Argument, Write};
use crate::state::State;
use crate::stream::{Emitter, Mode, Payload};

impl<S: State> Machine<S> {
    fn emitter(&self, mode: Mode) -> Option<&Emitter> {
        self.scope
            .emitter
            .as_ref()
            .filter(|emitter| emitter.wants(mode))
    }

    pub(crate) async fn tell_values(&self) {
        if let Some(emitter) = self.emitter(Mode::Values) {
            emitter
                .send(
                    self.shown_step(),
                    Payload::Values(Arc::new(S::clone(&self.state))),
                )
                .await;
        }
    }

    pub(crate) async fn tell_checkpoint(&self) {
        if let Some(emitter) = self.emitter(Mode::Checkpoints)
            && let Some(snapshot) = self.snapshot()
        {
            emitter
                .send(self.shown_step(), Payload::Checkpoint(Arc::new(snapshot)))
                .await;
        }
    }

    pub(crate) async fn tell_breakpoint(&self) {
        if let Some(emitter) = &self.scope.emitter {
            emitter
                .send(self.shown_step(), Payload::Interrupt(Vec::new()))
                .await;
        }
    }

    pub(crate) async fn tell_started(&self, task: &Task<S>) {
        if self.is_start(task) {
            return;
        }
        if let Some(emitter) = self.emitter(Mode::Tasks) {
            let (input, item) = match &task.argument {
                None => (Arc::new(S::clone(&self.state)), None),
                Some(Argument::State(state)) => (Arc::clone(state), None),
                Some(Argument::Item(item)) => {
                    (Arc::new(S::clone(&self.state)), item.to_json().ok())
                }
            };
            let node = self.plan.name(task.node);
            emitter
                .send(
                    self.shown_step(),
                    Payload::TaskStarted { node, input, item },
                )
                .await;
        }
    }

    /// What a task wrote that does not run again.
    pub(crate) async fn tell_kept(&self, task: &Task<S>, done: &Done<S>) {
        if self.is_start(task) {
            return;
        }
        if let Some(emitter) = self.emitter(Mode::Updates) {
            let kept = Payload::Update {
                node: self.plan.name(task.node),
                writes: Arc::new(done.output.writes().to_vec()),
                cached: true,
            };
            emitter.send(self.shown_step(), kept).await;
        }
    }

    pub(crate) async fn tell_ended(&self, task: &Task<S>, index: usize, ended: &Ended<S>) {
        let Some(emitter) = &self.scope.emitter else {
            return;
        };
        if self.is_start(task) || task.ran().is_some() {
            // No node has run; but what is asked has to be seen.
            if let Ended::Asked { questions, .. } = ended {
                let interrupts = self.interrupts(task, index, questions.clone());
                emitter
                    .send(self.shown_step(), Payload::Interrupt(interrupts))
                    .await;
            }
            return;
        }
        let node = self.plan.name(task.node);
        let mut writes: Arc<Vec<Write<S>>> = Arc::default();
        let mut interrupts = Vec::new();
        let mut error = None;
        if let Ended::Finished(done)
        | Ended::Asked {
            ran: Some(done), ..
        } = ended
        {
            if emitter.wants(Mode::Messages) {
                for write in done.output.writes() {
                    let messages = self.new_messages(write);
                    for message in messages {
                        if emitter.first_sight(&message) {
                            let node = Arc::clone(&node);
                            emitter
                                .send(self.shown_step(), Payload::Message { node, message })
                                .await;
                        }
                    }
                }
            }
            if emitter.wants(Mode::Updates) || (emitter.wants(Mode::Tasks) && !done.cached) {
                writes = Arc::new(done.output.writes().to_vec());
            }
            if emitter.wants(Mode::Updates) {
                let writes: Arc<Vec<Write<S>>> = Arc::clone(&writes);
                let node = Arc::clone(&node);
                emitter
                    .send(
                        self.shown_step(),
                        Payload::Update {
                            node,
                            writes,
                            cached: done.cached,
                        },
                    )
                    .await;
            }
        }
        match ended {
            Ended::Finished(_) => {}
            Ended::Asked {
                questions, refused, ..
            } => {
                error = refused.as_ref().map(ToString::to_string);
                interrupts = self.interrupts(task, index, questions.clone());
                emitter
                    .send(self.shown_step(), Payload::Interrupt(interrupts.clone()))
                    .await;
            }
            Ended::Failed(failure) => error = Some(failure.to_string()),
        }
        // A task that did not run has not finished either.
        if matches!(ended, Ended::Finished(done) if done.cached) {
            return;
        }
        if emitter.wants(Mode::Tasks) {
            emitter
                .send(
                    self.shown_step(),
                    Payload::TaskFinished {
                        node,
                        writes,
                        error,
                        interrupts,
                    },
                )
                .await;
        }
    }

    /// The messages that a write brings. A whole state brings those that were not there before.
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
