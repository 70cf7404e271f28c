//! The graphs whose threads are woken.

use langgraph::error::AgentError;
use langgraph::thread::{Thread, Threads};
use langgraph::{CompiledStateGraph, State};
use langgraph_versions::Versions;

/// A graph whose threads [`wake_due`](crate::wake_due) wakes, or several versions of one.
pub trait WakesThreads<S: State>: Sync {
    /// Returns the threads.
    ///
    /// # Errors
    ///
    /// If there is no version.
    fn threads(&self) -> Result<Threads<S>, AgentError>;

    /// Returns a thread, with the graph that goes on with it.
    ///
    /// # Errors
    ///
    /// If no version can go on with it.
    fn thread(&self, id: &str) -> impl Future<Output = Result<Thread<S>, AgentError>> + Send;
}

impl<S: State> WakesThreads<S> for CompiledStateGraph<S> {
    fn threads(&self) -> Result<Threads<S>, AgentError> {
        Ok(self.threads())
    }

    async fn thread(&self, id: &str) -> Result<Thread<S>, AgentError> {
        Ok(self.thread(id))
    }
}

impl<S: State> WakesThreads<S> for Versions<S> {
    fn threads(&self) -> Result<Threads<S>, AgentError> {
        Ok(self.newest()?.threads())
    }

    async fn thread(&self, id: &str) -> Result<Thread<S>, AgentError> {
        self.thread(id).await
    }
}
