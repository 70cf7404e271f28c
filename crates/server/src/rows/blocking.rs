//! Calls that wait for a disk.

use langgraph::environment;
use tokio::task::{JoinError, spawn_blocking};

/// Makes a call on a thread on which waiting stops no task. A simulation has one thread.
///
/// # Errors
///
/// If the call panics, or the runtime ends.
pub(crate) async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    match environment::storage_pauses() {
        Some(pauses) => tokio::spawn(environment::storage_call(pauses, call)).await,
        None => spawn_blocking(call).await,
    }
}
