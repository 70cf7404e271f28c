//! Work that goes on in the background.

use tokio::runtime::Handle;

use super::box_future::BoxFuture;

/// Starts a task. All are of one type, so the runtime's part of a task is compiled once.
pub(crate) fn start(runtime: &Handle, task: BoxFuture<'static, ()>) {
    runtime.spawn(task);
}
