//! When a run's requester stops waiting.

use std::time::Duration;

use tokio::time::Instant;

/// When the requester of a run stops waiting. It is a resource of the run: remote nodes wait no
/// longer, and send the limit to their agents.
///
/// A [served graph](crate::serve) has the one of its request, so that a limit holds over any number
/// of processes. Give it to a run of your own beside [`Run::timeout`](langgraph::run::Run::timeout).
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use langgraph::prelude::*;
/// use langgraph_remote::{AgentEnvelope, Deadline, EnvelopeBody, LocalNetwork, RemoteNode};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let network = LocalNetwork::new();
/// network.register("clock", |request: AgentEnvelope| async move {
///     EnvelopeBody::Complete(request.timeout.is_some_and(|limit| limit.as_secs() < 5).into())
/// });
/// let ask = RemoteNode::new("clock", network).bind(|_: &bool| Some(()), |is_late: bool| is_late);
/// let mut graph = StateGraph::<bool>::new();
/// graph.add_node("ask", ask).add_sequence(&["ask"]);
///
/// let limit = Duration::from_secs(5);
/// let run = graph.compile()?.run(false).timeout(limit).resource(Arc::new(Deadline::after(limit)));
/// assert!(run.await?.finished()?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// Creates the deadline that is `limit` from now.
    pub fn after(limit: Duration) -> Self {
        let now = Instant::now();
        // A limit that no clock can show is none: a century.
        let far = Duration::from_secs(100 * 365 * 86_400);
        Self(now.checked_add(limit.min(far)).unwrap_or(now))
    }

    /// Returns the time that is left, or zero.
    pub fn remaining(&self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}
