//! Approvals that were not answered in time.

use super::ApprovalRequest;
use langgraph::error::AgentError;
use langgraph::run::Run;
use langgraph::state::State;
use langgraph::thread::Thread;

/// Returns a run that takes the defaults of a thread's expired approvals; `None` if none has
/// expired. Call it from a timer, for the threads that wait.
///
/// # Errors
///
/// If the thread cannot be read.
///
/// # Examples
///
/// ```
/// use langgraph::checkpoint::{RunStatus, ThreadFilter};
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesState, expired_approvals};
///
/// # async fn sweep(graph: CompiledStateGraph<MessagesState>) -> Result<(), AgentError> {
/// let waiting = ThreadFilter::new().status(RunStatus::Interrupted);
/// for waiting in graph.threads().list(waiting).await? {
///     if let Some(run) = expired_approvals(&graph.thread(waiting.thread)).await? {
///         run.await?;
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub async fn expired_approvals<S: State>(thread: &Thread<S>) -> Result<Option<Run<S>>, AgentError> {
    let Some(state) = thread.state().await? else {
        return Ok(None);
    };
    let expired = state.interrupts.iter().filter_map(|interrupt| {
        let request = ApprovalRequest::of(interrupt)?;
        let default = request.default.as_ref().filter(|_| request.is_expired())?;
        Some((interrupt.id.clone(), request.answer(default.clone())))
    });
    let expired: Vec<_> = expired.collect();
    Ok((!expired.is_empty()).then(|| thread.resume_all(expired)))
}
