//! What is due.

use std::time::SystemTime;

use langgraph::checkpoint::Checkpointer;
use langgraph::error::CheckpointError;

use crate::wait::Wait;
use crate::waits::Waits;

/// Returns the waits of all threads of a saver whose time has come at `now`, earliest first.
///
/// It reads every paused thread. A program that asks again and again keeps a [`Waits`], which reads
/// only the threads that have changed.
///
/// # Errors
///
/// Those of the saver; [`CheckpointError::NoAdministration`] if it cannot list threads.
pub async fn due<C: Checkpointer + ?Sized>(
    saver: &C,
    now: SystemTime,
) -> Result<Vec<Wait>, CheckpointError> {
    let mut waits = Waits::new();
    waits.read(saver).await?;
    Ok(waits.due(now))
}
