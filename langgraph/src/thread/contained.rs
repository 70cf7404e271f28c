//! Panics of a state's own code, while a thread is read or changed.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use crate::error::AgentError;
use crate::node::caught;

/// Awaits `work`, and turns a panic of the state's code (`migrate`, `Deserialize`, a reducer) into an
/// error, as a run does.
///
/// # Errors
///
/// Those of `work`, and [`AgentError::Panicked`].
pub(super) async fn contained<T>(
    work: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    let mut work = pin!(work);
    poll_fn(|cx| {
        caught(|| work.as_mut().poll(cx))
            .unwrap_or_else(|panic| Poll::Ready(Err(AgentError::Panicked(panic.into_message()))))
    })
    .await
}
