//! Cancellation of runs.

use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::watch;

/// Cancels a run: keep a clone, and pass one to the run.
///
/// When a cancelled run returns [`AgentError::Cancelled`](crate::error::AgentError::Cancelled), nothing of it
/// is written to its thread any more. If its last record could not be stored, it returns the error of the storage.
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
pub struct CancelToken(Arc<watch::Sender<Signal>>);

/// How runs are stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
enum Signal {
    #[default]
    Go,
    Drain,
    Cancel,
}

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels every run with this token or a clone of it.
    pub fn cancel(&self) {
        self.0.send_replace(Signal::Cancel);
    }

    /// Stops every run with this token, or a clone of it, at the end of its superstep: running
    /// nodes finish and are stored, and the run ends with [`Outcome::Drained`].
    ///
    /// A run without a thread has nothing to go on from, and runs to its end.
    /// [`resume_pending`](crate::thread::Threads::resume_pending) takes up drained threads, as it
    /// does threads whose process is gone.
    ///
    /// [`Outcome::Drained`]: crate::Outcome::Drained
    pub fn drain(&self) {
        self.0.send_if_modified(|signal| {
            let first = *signal == Signal::Go;
            if first {
                *signal = Signal::Drain;
            }
            first
        });
    }

    /// Returns true after [`cancel`](Self::cancel).
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow() == Signal::Cancel
    }

    /// Returns true after [`drain`](Self::drain).
    pub fn is_draining(&self) -> bool {
        *self.0.borrow() == Signal::Drain
    }

    /// Waits for [`cancel`](Self::cancel).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn cancelled(&self) {
        until_cancelled(self.0.subscribe()).await;
    }
}

/// Boxed, and so compiled once: what awaits it is compiled for each state.
fn until_cancelled(
    mut signal: watch::Receiver<Signal>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        // Fails only without a sender, and the token has one.
        let _ = signal.wait_for(|signal| *signal == Signal::Cancel).await;
    })
}
