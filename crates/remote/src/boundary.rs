//! The boundary between a user and a graph.

use std::fmt;
use std::sync::Arc;

use langgraph::error::{AgentError, NodeError};
use langgraph::graph::CompiledStateGraph;
use langgraph::node::{IntoOutput, Output};
use langgraph::run::{Outcome, Run};
use langgraph::state::State;

/// A graph with a boundary: before a run, it writes the user's message into the state; after the
/// run, it reads the answer from the state. The user never sees the state.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_remote::InvokeBoundary;
/// use langgraph::state::PlainUpdate;
///
/// #[derive(Clone, Default)]
/// struct Assistant {
///     user_message: String,
///     reply_to_user: Option<String>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<Plain<Assistant>>::new();
/// graph.add_node("answer", |state: &Plain<Assistant>| {
///     let mut state = state.clone();
///     state.reply_to_user = Some(format!("You said `{}`.", state.user_message));
///     state
/// });
/// graph.add_sequence(&["answer"]);
///
/// let assistant = InvokeBoundary::new(
///     graph.compile()?,
///     |user_message: String| {
///         PlainUpdate(Some(Assistant { user_message, ..Assistant::default() }))
///     },
///     |state: &Plain<Assistant>| state.reply_to_user.clone(),
/// );
/// let reply = assistant.invoke("hello".to_owned()).await?;
/// assert_eq!(reply.as_deref(), Some("You said `hello`."));
/// # Ok(())
/// # }
/// ```
pub struct InvokeBoundary<S: State, M, R> {
    graph: CompiledStateGraph<S>,
    write: Write<S, M>,
    read: Read<S, R>,
}

type Write<S, M> = Arc<dyn Fn(M) -> Result<Output<S>, NodeError> + Send + Sync>;
type Read<S, R> = Arc<dyn Fn(&S) -> R + Send + Sync>;

impl<S: State, M, R> InvokeBoundary<S, M, R> {
    /// Creates a boundary. `write` turns the user's message into the input of a run; `read` takes
    /// the answer from the final state.
    ///
    /// On a thread, a run begins with the state of the previous one. So let `write` clear what belongs to one
    /// turn: the answer, and the requests and results on the way to it. What is left would be sent again.
    ///
    /// # Examples
    ///
    /// A conversation, in which each turn has its own request:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    /// use langgraph_remote::InvokeBoundary;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Office {
    ///     user_message: String,
    ///     mail_request: Option<String>,
    ///     #[reducer(append)]
    ///     sent: Vec<String>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<Office>::new();
    /// graph.add_node("parse", |office: &Office| {
    ///     let request = office.user_message.strip_prefix("mail ");
    ///     OfficeUpdate::default().mail_request(request.map(str::to_owned))
    /// });
    /// graph.add_node("send", |office: &Office| {
    ///     OfficeUpdate::default().sent(office.mail_request.iter().cloned().collect())
    /// });
    /// graph.add_sequence(&["parse", "send"]);
    ///
    /// let office = InvokeBoundary::new(
    ///     graph.compile()?.checkpointer(Arc::new(MemorySaver::new())),
    ///     |text: &str| OfficeUpdate::default().user_message(text.to_owned()).mail_request(None),
    ///     |office: &Office| office.sent.len(),
    /// );
    /// for (text, mails) in [("mail ada", 1), ("thanks", 1), ("mail ben", 2)] {
    ///     let sent = office.invoke_with(text, |run| run.thread("user")).await?;
    ///     assert_eq!(sent, mails);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn new<I: IntoOutput<S>>(
        graph: CompiledStateGraph<S>,
        write: impl Fn(M) -> I + Send + Sync + 'static,
        read: impl Fn(&S) -> R + Send + Sync + 'static,
    ) -> Self {
        Self {
            graph,
            write: Arc::new(move |message| write(message).into_output()),
            read: Arc::new(read),
        }
    }

    /// Runs one turn and returns the graph's answer to `message`.
    ///
    /// # Errors
    ///
    /// The error of the run; [`AgentError::Interrupted`] if it waits for a person.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the run.
    pub async fn invoke(&self, message: M) -> Result<R, AgentError> {
        self.invoke_with(message, |run| run).await
    }

    /// Runs one turn with options of the run, such as a thread:
    /// `boundary.invoke_with(message, |run| run.thread("t-1"))`.
    ///
    /// # Errors
    ///
    /// As [`invoke`](Self::invoke).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the run.
    pub async fn invoke_with(
        &self,
        message: M,
        options: impl FnOnce(Run<S>) -> Run<S>,
    ) -> Result<R, AgentError> {
        let run = self.graph.run((self.write)(message));
        let state = options(run).await.and_then(Outcome::finished)?;
        Ok((self.read)(&state))
    }
}

impl<S: State, M, R> Clone for InvokeBoundary<S, M, R> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            write: Arc::clone(&self.write),
            read: Arc::clone(&self.read),
        }
    }
}

impl<S: State, M, R> fmt::Debug for InvokeBoundary<S, M, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokeBoundary")
            .field("graph", &self.graph)
            .finish_non_exhaustive()
    }
}
