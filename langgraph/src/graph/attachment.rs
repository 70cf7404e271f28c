//! The saver of a graph, and what its threads need.

use std::sync::Arc;

use super::inbox::Inboxes;
use crate::checkpoint::Checkpointer;
use crate::run::{Driven, OnThread};
use crate::state::State;

/// The saver of a graph, and what its threads need.
pub(crate) struct Attachment<S: State> {
    pub(crate) saver: Arc<dyn Checkpointer>,
    /// The runs at work on the threads.
    pub(crate) inboxes: Arc<Inboxes<S>>,
    /// Only a graph with a saver has it: a program without one is built without threads.
    pub(crate) start: &'static dyn StartOnThread<S>,
}

/// Starts runs on threads.
pub(crate) trait StartOnThread<S: State>: Send + Sync {
    fn start(&self, run: OnThread<S>) -> Driven<S>;
}

struct Start;

impl<S: State> StartOnThread<S> for Start {
    fn start(&self, run: OnThread<S>) -> Driven<S> {
        Box::pin(run.start())
    }
}

impl<S: State> Attachment<S> {
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> Self {
        Self {
            saver,
            inboxes: Arc::default(),
            start: &Start,
        }
    }
}

impl<S: State> Clone for Attachment<S> {
    fn clone(&self) -> Self {
        Self {
            saver: Arc::clone(&self.saver),
            inboxes: Arc::clone(&self.inboxes),
            start: self.start,
        }
    }
}
