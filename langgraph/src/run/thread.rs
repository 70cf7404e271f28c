//! Runs of a thread.

use serde::Serialize;

use super::Run;
use crate::error::AgentError;
use crate::log::ResumeValue;
use crate::node::IntoInput;
use crate::session::RunInput;
use crate::state::State;
use crate::thread::Thread;
use crate::thread::resume_values::resume_value;

/// Runs on a thread: from its head, or from the checkpoint of [`at`](Self::at).
///
/// A subgraph of a thread does not run on its own: its runs fail with
/// [`SubgraphError::PartOfThread`](crate::error::SubgraphError::PartOfThread).
impl<S: State> Thread<S> {
    /// Runs the graph on `input`, as `graph.run(input).thread(id)`. A new input drops the pending
    /// tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let thread = graph.thread("t");
    /// assert_eq!(thread.run(1).await?.finished()?, 2);
    /// assert_eq!(thread.run(()).await?.finished()?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S> {
        self.begin("run", RunInput::New(input.into_output()))
    }

    /// Continues where the thread stands: after a breakpoint or a failure. Finished tasks do not
    /// run again; tasks that wait for an answer keep waiting.
    pub fn proceed(&self) -> Run<S> {
        self.begin("proceed", RunInput::default())
    }

    /// Continues a run whose process may have died: for a server, or a queue, that does not know how far the run had
    /// come. As [`proceed`](Self::proceed), but a run that has paused at a breakpoint pauses there again instead of
    /// passing it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_node("double", |n: &i64| n * 2);
    /// graph.add_sequence(&["increment", "double"]).interrupt_before(["double"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let thread = graph.thread("t");
    /// assert!(!thread.run(1).await?.is_done()); // the process dies here
    /// assert!(!thread.recover().await?.is_done());
    /// assert_eq!(thread.proceed().await?.finished()?, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn recover(&self) -> Run<S> {
        let mut run = self.begin("recover", RunInput::default());
        run.options.recovers = true;
        run
    }

    /// Answers the interrupt `key` (its key, or its id) and continues.
    pub fn resume(&self, key: impl Into<String>, answer: impl Serialize) -> Run<S> {
        let given = resume_value(Some(key.into()), answer);
        self.answered("resume", given.map(|given| vec![given]))
    }

    /// Answers several interrupts, by key or id, and continues. Those without an answer keep
    /// waiting.
    pub fn resume_all<K: Into<String>>(
        &self,
        answers: impl IntoIterator<Item = (K, impl Serialize)>,
    ) -> Run<S> {
        let answers = answers.into_iter();
        let given = answers.map(|(key, value)| resume_value(Some(key.into()), value));
        self.answered("resume_all", given.collect())
    }

    /// Answers the only open interrupt and continues; an error if there are several, or none.
    pub fn answer(&self, answer: impl Serialize) -> Run<S> {
        let given = resume_value(None, answer);
        self.answered("answer", given.map(|given| vec![given]))
    }

    fn answered(
        &self,
        method: &'static str,
        given: Result<Vec<ResumeValue>, AgentError>,
    ) -> Run<S> {
        self.begin(method, RunInput::Resume(given))
    }

    fn begin(&self, method: &'static str, input: RunInput<S>) -> Run<S> {
        let input = match self.require_root(method) {
            Ok(()) => input,
            Err(error) => RunInput::Resume(Err(error.into())),
        };
        let mut run = Run::with_input(self.graph().clone(), input).thread(self.id());
        run.options.at = self.checkpoint();
        run
    }
}
