//! A run that has not started.

use std::sync::Arc;

use crate::checkpoint::CheckpointId;
use crate::graph::CompiledStateGraph;
use crate::graph::run_options::{RunOptions, run_option_setters};
use crate::node::{Command, IntoOutput};
use crate::session::{BoxedRun, CallOptions, RunInput, Session};
use crate::state::State;
use crate::superstep::Engine;

/// A run that has not started. Set its options, then await it, or [`stream`](Self::stream) it.
///
/// # Cancel safety
///
/// Dropping the run, or its future, drops the running nodes. Nothing continues in the background.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct Run<S: State> {
    pub(crate) graph: CompiledStateGraph<S>,
    pub(crate) input: RunInput<S>,
    pub(crate) command: Option<Box<Command<S>>>,
    pub(crate) options: CallOptions,
    /// Starts the session of a run that names its thread.
    pub(super) session: Option<StartSession<S>>,
}

/// Only a run that names its thread has this function, so a program without threads is built without
/// what they need.
type StartSession<S> =
    fn(Session<S>, Box<Engine<S>>, RunInput<S>, Option<Box<Command<S>>>) -> BoxedRun<S>;

impl<S: State> Run<S> {
    pub(crate) fn new(graph: CompiledStateGraph<S>, input: impl IntoOutput<S>) -> Self {
        Self::with_input(graph, RunInput::New(input.into_output()))
    }

    pub(crate) fn with_input(graph: CompiledStateGraph<S>, input: RunInput<S>) -> Self {
        Self {
            graph,
            input,
            command: None,
            options: CallOptions::default(),
            session: None,
        }
    }

    /// Sets the thread of the run. The graph needs a checkpointer.
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.options.thread = Some(thread.into());
        self.session = Some(Session::start);
        self
    }

    /// Starts from that checkpoint of the thread instead of its head: time travel. Later
    /// checkpoints are kept.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.options.at = Some(checkpoint);
        self
    }

    /// Adds a command: its update is written before the thread continues, and its targets start
    /// beside the pending nodes.
    pub fn command(mut self, command: Command<S>) -> Self {
        self.command = Some(Box::new(command));
        self
    }

    /// Gives the run a resource. It replaces the graph's resource of the same type; see
    /// [`Context::resource`](crate::Context::resource).
    pub fn resource<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.options.resources.insert(value);
        self
    }

    /// Sets several options at once; those that are set here take precedence over earlier ones.
    pub fn options(mut self, options: RunOptions) -> Self {
        let mut options = options;
        options.or(Some(&self.options.run));
        self.options.run = options;
        self
    }

    run_option_setters!(self => self.options.run);
}

impl_debug!([S: State] Run<S>, |run| graph = run.graph, limit = run.options.run.limit);
