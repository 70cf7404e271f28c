//! Writes that end although nothing awaits them any more.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use super::background;
use super::box_future::BoxFuture;
use super::run_guard::{Recording, RunGuard};
use langgraph_core::error::CheckpointError;

type Write = BoxFuture<'static, Result<(), CheckpointError>>;

/// A write that goes on in the background if it is dropped after it has begun. Without a runtime, it is
/// dropped too.
pub(super) struct Unbroken(Option<(Write, Recording<Arc<RunGuard>>)>);

impl Unbroken {
    pub(super) fn new(
        write: impl Future<Output = Result<(), CheckpointError>> + Send + 'static,
        record: Recording<Arc<RunGuard>>,
    ) -> Self {
        Self(Some((Box::pin(write), record)))
    }
}

impl Future for Unbroken {
    type Output = Result<(), CheckpointError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // A write that panics is not polled again.
        let Some((mut write, record)) = self.0.take() else {
            return Poll::Pending;
        };
        let polled = write.as_mut().poll(cx);
        if polled.is_pending() {
            self.0 = Some((write, record));
        }
        polled
    }
}

impl Drop for Unbroken {
    fn drop(&mut self) {
        if let (Some((write, record)), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            let write = async move { record.end(write.await) };
            background::start(&runtime, Box::pin(write));
        }
    }
}
