//! A run as a stream of events.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;

use super::Outcome;
use crate::error::AgentError;
use crate::state::State;
use crate::stream::{Emitter, Event, RawEvent, StreamModes};

/// The events that a stream shows, and the size of its buffer.
#[derive(Clone, Debug)]
pub struct StreamOptions {
    modes: StreamModes,
    subgraphs: bool,
    buffer: usize,
}

impl StreamOptions {
    /// Selects the events of these modes, of the graph itself.
    pub fn new(modes: impl Into<StreamModes>) -> Self {
        Self {
            modes: modes.into(),
            subgraphs: false,
            buffer: 16,
        }
    }

    /// Also selects the events of subgraphs.
    #[must_use]
    pub fn subgraphs(mut self) -> Self {
        self.subgraphs = true;
        self
    }

    /// Sets how many events the stream buffers before the run has to wait; at least 1.
    #[must_use]
    pub fn buffer(mut self, events: usize) -> Self {
        self.buffer = events.max(1);
        self
    }
}

impl<M: Into<StreamModes>> From<M> for StreamOptions {
    fn from(modes: M) -> Self {
        Self::new(modes)
    }
}

type Driver<S> = Pin<Box<dyn Future<Output = Result<Outcome<S>, AgentError>> + Send>>;

/// A run as a [`Stream`] of events, followed by the result of the run.
///
/// The run advances only while the stream is polled, and at most the buffer ahead of its reader. So
/// a reader that stops reading stops the run. If the run fails, the last item is the error.
///
/// # Cancel safety
///
/// [`next`](Self::next) may be dropped at any time; no event is lost. Dropping the stream drops the
/// run where it is.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
///
/// let mut events = graph.compile()?.run(21).stream(StreamMode::Values);
/// let mut seen = Vec::new();
/// while let Some(event) = events.next().await {
///     seen.extend(event?.values().copied());
/// }
/// assert_eq!(seen, [21, 42]);
/// assert_eq!(events.finish().await?.into_state(), 42);
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream does nothing unless it is read"]
pub struct EventStream<S: State> {
    driver: Option<Driver<S>>,
    events: mpsc::Receiver<RawEvent>,
    seq: u64,
    outcome: Option<Outcome<S>>,
    failed: Option<AgentError>,
}

impl<S: State> EventStream<S> {
    pub(crate) fn new<F>(options: &StreamOptions, start: impl FnOnce(Emitter) -> F) -> Self
    where
        F: Future<Output = Result<Outcome<S>, AgentError>> + Send + 'static,
    {
        let (sender, events) = mpsc::channel(options.buffer);
        let emitter = Emitter::new(sender, options.modes, options.subgraphs);
        Self {
            driver: Some(Box::pin(start(emitter))),
            events,
            seq: 0,
            outcome: None,
            failed: None,
        }
    }

    /// Returns the next event, or `None` at the end of the run.
    pub async fn next(&mut self) -> Option<Result<Event<S>, AgentError>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads the remaining events and returns the outcome.
    ///
    /// # Errors
    ///
    /// The error of the run; or [`AgentError::InvalidInput`] if the stream has already returned
    /// that error as its last item.
    pub async fn finish(mut self) -> Result<Outcome<S>, AgentError> {
        while let Some(event) = self.next().await {
            event?;
        }
        self.outcome.ok_or_else(|| {
            AgentError::InvalidInput(
                "the run failed; its error was the last item of the stream".to_owned(),
            )
        })
    }

    /// Returns the outcome after the end of the stream; `None` before, or if the run failed.
    pub fn outcome(&self) -> Option<&Outcome<S>> {
        self.outcome.as_ref()
    }

    fn event(&mut self, raw: RawEvent) -> Event<S> {
        let event = Event::new(self.seq, raw);
        self.seq += 1;
        event
    }
}

impl<S: State> Stream for EventStream<S> {
    type Item = Result<Event<S>, AgentError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // Buffered events first: the run does not advance further than its reader asks.
        if let Ok(raw) = this.events.try_recv() {
            return Poll::Ready(Some(Ok(this.event(raw))));
        }
        if let Some(driver) = &mut this.driver
            && let Poll::Ready(result) = driver.as_mut().poll(cx)
        {
            this.driver = None;
            match result {
                Ok(outcome) => this.outcome = Some(outcome),
                Err(error) => this.failed = Some(error),
            }
        }
        match this.events.poll_recv(cx) {
            Poll::Ready(Some(raw)) => Poll::Ready(Some(Ok(this.event(raw)))),
            // The run has dropped every sender; only its error is left.
            Poll::Ready(None) if this.driver.is_none() => Poll::Ready(this.failed.take().map(Err)),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: State> Unpin for EventStream<S> {}

impl<S: State> fmt::Debug for EventStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("seq", &self.seq)
            .field("ended", &self.driver.is_none())
            .finish_non_exhaustive()
    }
}
