//! The saver of a graph, and what its threads need.

use std::sync::Arc;

use super::inbox::Inboxes;
use crate::checkpoint::Checkpointer;
use crate::run::{Driven, OnThread};
use crate::state::State;

/// The saver of a graph, and what its threads need.
///
/// Runs on threads start through it, so that a program without a saver is not built with what they
/// call.
pub(crate) struct Attachment<S: State> {
    pub(crate) saver: Arc<dyn Checkpointer>,
    /// The runs at work on the threads.
    pub(crate) inboxes: Arc<Inboxes<S>>,
    pub(crate) start: fn(OnThread<S>) -> Driven<S>,
}

impl<S: State> Attachment<S> {
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> Self {
        Self {
            saver,
            inboxes: Arc::default(),
            start: |run| Box::pin(run.start()),
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
