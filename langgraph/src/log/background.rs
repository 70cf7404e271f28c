//! Work that goes on in the background.

use std::future::Future;
use std::pin::Pin;

use tokio::runtime::Handle;

/// Starts a task. All are of one type, so the runtime's part of a task is compiled once.
pub(crate) fn start(runtime: &Handle, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
    runtime.spawn(task);
}
