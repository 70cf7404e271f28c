//! The runs that a graph starts.

use super::Run;
use crate::error::AgentError;
use crate::graph::CompiledStateGraph;
use crate::node::IntoInput;
use crate::state::State;

/// Runs of the graph.
impl<S: State> CompiledStateGraph<S> {
    /// Runs the graph on `input`: a state, an update, or a [`Command`](crate::Command).
    ///
    /// Await it for the [`Outcome`](crate::Outcome), or set options first: a thread, resources,
    /// limits.
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S> {
        Run::new(self.clone(), input)
    }

    /// Runs the graph on `input` and returns the final state.
    ///
    /// # Errors
    ///
    /// [`AgentError::Interrupted`] if the run waits for an answer (it holds the state so far); any
    /// other [`AgentError`] if the run failed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running nodes. Nothing continues in the background.
    pub async fn invoke(&self, input: impl IntoInput<S>) -> Result<S, AgentError> {
        self.run(input).await?.finished()
    }

    /// As [`invoke`](Self::invoke), for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke). Also [`AgentError::InvalidInput`] inside a runtime, where the
    /// call would block the thread that has to do the work.
    pub fn invoke_blocking(&self, input: impl IntoInput<S>) -> Result<S, AgentError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(AgentError::InvalidInput(
                "`invoke_blocking` was called inside an async runtime; await `invoke` there"
                    .to_owned(),
            ));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime
            .map_err(|error| AgentError::InvalidInput(format!("no async runtime: {error}")))?;
        runtime.block_on(self.invoke(input))
    }
}
