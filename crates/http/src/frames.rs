//! The events of a run as frames.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use langgraph::run::EventStream;
use langgraph::state::State;
use serde::Serialize;

use crate::{Frame, FrameId};

/// The events of a run as a stream of [`Frame`]s. The last one is `end` or `error`.
///
/// For one that is a body already, see [`sse`](crate::sse).
#[must_use = "a stream does nothing unless it is read"]
pub struct Frames<S: State> {
    events: EventStream<S>,
    run: Arc<str>,
    next: u64,
    ended: bool,
}

impl<S: State> Frames<S> {
    /// The frames of these events.
    pub fn new(events: EventStream<S>) -> Self {
        Self {
            run: events.run_id().into(),
            events,
            next: 0,
            ended: false,
        }
    }

    /// The id of the run.
    pub fn run_id(&self) -> &str {
        &self.run
    }
}

impl<S> Stream for Frames<S>
where
    S: State<Update: Serialize> + Serialize,
{
    type Item = Frame;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        Pin::new(&mut this.events).poll_next(cx).map(|item| {
            let last = FrameId::new(&this.run, this.next);
            let frame = match item {
                Some(Ok(event)) => {
                    this.next = event.seq + 1;
                    Some(Frame::event(&this.run, &event))
                }
                Some(Err(error)) => Some(Frame::error(&last, &error)),
                None => this
                    .events
                    .outcome()
                    .map(|outcome| Frame::end(&last, outcome)),
            };
            this.ended = frame.as_ref().is_none_or(Frame::is_last);
            frame
        })
    }
}

impl<S: State> fmt::Debug for Frames<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames")
            .field("run", &self.run)
            .field("next", &self.next)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
