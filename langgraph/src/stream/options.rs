//! What a stream shows.

use super::StreamModes;

/// The events that a stream shows, and the size of its buffer.
#[derive(Clone, Debug)]
pub struct StreamOptions {
    pub(crate) modes: StreamModes,
    pub(crate) subgraphs: bool,
    pub(crate) checkpoint_values: bool,
    pub(crate) buffer: usize,
}

impl StreamOptions {
    /// Selects the events of these modes, of the graph itself.
    pub fn new(modes: impl Into<StreamModes>) -> Self {
        Self {
            modes: modes.into(),
            subgraphs: false,
            checkpoint_values: true,
            buffer: 16,
        }
    }

    /// Also selects the events of subgraphs.
    #[must_use]
    pub fn subgraphs(mut self) -> Self {
        self.subgraphs = true;
        self
    }

    /// Leaves the state out of the events of [`StreamMode::Checkpoints`]: each is an
    /// [`EventKind::CheckpointSaved`], and the state is not cloned.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph::stream::StreamOptions;
    ///
    /// let options = StreamOptions::new(StreamMode::Checkpoints).without_checkpoint_values();
    /// # let _ = options;
    /// ```
    ///
    /// [`StreamMode::Checkpoints`]: super::StreamMode::Checkpoints
    /// [`EventKind::CheckpointSaved`]: super::EventKind::CheckpointSaved
    #[must_use]
    pub fn without_checkpoint_values(mut self) -> Self {
        self.checkpoint_values = false;
        self
    }

    /// Sets how many events the stream buffers before the run has to wait; at least 1. The events of a superstep, or of
    /// the end of a task, are added together: the run waits after them, before its next node.
    #[must_use]
    pub fn buffer(mut self, events: usize) -> Self {
        self.buffer = events.max(1);
        self
    }
}

impl<M: Into<StreamModes>> From<M> for StreamOptions {
    fn from(modes: M) -> Self {
        Self::new(modes)
    }
}
