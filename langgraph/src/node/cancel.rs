//! Cancellation of runs.

use std::sync::Arc;

use tokio::sync::watch;

/// Cancels a run: keep a clone, and pass one to the run.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::run::CancelToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("wait", |_: i64| std::future::pending::<i64>()).add_sequence(&["wait"]);
/// let graph = graph.compile()?;
///
/// let token = CancelToken::new();
/// let run = graph.run(0).cancel(token.clone());
/// token.cancel();
/// assert!(matches!(run.await, Err(AgentError::Cancelled)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<watch::Sender<bool>>);

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels every run with this token or a clone of it.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Returns true after [`cancel`](Self::cancel).
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits for [`cancel`](Self::cancel).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn cancelled(&self) {
        // Fails only without a sender, and this is one.
        let _ = self.0.subscribe().wait_for(|cancelled| *cancelled).await;
    }
}
