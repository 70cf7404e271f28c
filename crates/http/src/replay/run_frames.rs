//! One run, with its last frames.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use langgraph::error::AgentError;
use tokio::time::Sleep;

use crate::{Backlog, Frame, FrameId};

/// One run, with its last frames.
pub(super) struct RunFrames {
    run: Arc<str>,
    pub(super) frames: Arc<Backlog<Frame>>,
    cancelled: AtomicBool,
}

impl RunFrames {
    pub(super) fn new(run: &str, capacity: usize) -> Self {
        Self {
            run: run.into(),
            frames: Arc::new(Backlog::new(capacity, usize::MAX)),
            cancelled: AtomicBool::new(false),
        }
    }

    pub(super) fn run_id(&self) -> &str {
        &self.run
    }

    /// Stops the run. Returns false when it has ended.
    pub(super) fn cancel(&self) -> bool {
        if self.frames.has_ended() {
            return false;
        }
        self.cancelled.store(true, Ordering::Release);
        self.frames.wake_producer();
        true
    }

    /// Takes the frames of the run, until it ends, is cancelled, or has no reader for `grace`.
    pub(super) async fn drive(&self, frames: impl Stream<Item = Frame>, grace: Duration) {
        let mut has_last = false;
        {
            let mut frames = pin!(frames);
            let mut alone = None;
            let stopped = |cx: &mut Context<'_>| {
                self.poll(frames.as_mut(), &mut has_last, &mut alone, grace, cx)
            };
            std::future::poll_fn(stopped).await;
        }
        // The run is dropped before its readers see the end.
        if !has_last {
            let id = FrameId::new(&self.run, self.frames.next());
            self.frames
                .push(Frame::error(&id, &AgentError::Cancelled), 0);
        }
        self.frames.end();
    }

    fn poll(
        &self,
        mut frames: Pin<&mut impl Stream<Item = Frame>>,
        has_last: &mut bool,
        alone: &mut Option<Pin<Box<Sleep>>>,
        grace: Duration,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        loop {
            self.frames.register_producer(cx);
            if self.cancelled.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            if self.frames.is_read() {
                *alone = None;
            } else {
                let sleep = alone.get_or_insert_with(|| Box::pin(tokio::time::sleep(grace)));
                if grace.is_zero() || sleep.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(());
                }
            }
            if self.frames.poll_room(cx).is_pending() {
                return Poll::Pending;
            }
            match frames.as_mut().poll_next(cx) {
                Poll::Ready(Some(frame)) => {
                    *has_last = frame.is_last();
                    self.frames.push(frame, 0);
                }
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
