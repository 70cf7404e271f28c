//! A run as a stream of events.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::{Outcome, Run};
use crate::checkpoint::{CheckpointId, Checkpointer, ThreadKey};
use crate::error::AgentError;
use crate::log::RunGuard;
use crate::session::BoxedRun;
use crate::state::{FieldSet, State};
use crate::stream::{Emitter, Event, EventReader, RawEvent, RunStart, StreamOptions, event_queue};

impl<S: State> Run<S> {
    /// Runs the graph as a stream of events.
    pub fn stream(mut self, options: impl Into<StreamOptions>) -> EventStream<S> {
        let log = match (&self.graph.saver, &self.options.thread) {
            (Some(saver), Some(thread)) => Some(StreamLog {
                saver: Arc::clone(saver),
                thread: thread.clone(),
                ending: Arc::clone(self.options.ending.get_or_insert_default()),
            }),
            _ => None,
        };
        EventStream::new(&options.into(), move |emitter| self.drive(Some(emitter))).with_log(log)
    }
}

/// A run as a [`Stream`] of events, followed by the result of the run.
///
/// The run advances only while the stream is polled, and runs no node while more events are unread than the
/// [buffer](StreamOptions::buffer) has room for. So a reader that stops reading stops the run. If the run fails, the last item is the error.
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
/// assert_eq!(events.finish().await?.finished()?, 42);
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream does nothing unless it is read"]
pub struct EventStream<S: State> {
    driver: Option<BoxedRun<S>>,
    events: EventReader<RawEvent>,
    start: Arc<RunStart>,
    /// Events from before the run was accepted.
    ahead: VecDeque<RawEvent>,
    seq: u64,
    outcome: Option<Outcome<S>>,
    failed: Option<AgentError>,
    log: Option<StreamLog>,
}

/// The log of a run that is streamed.
pub(super) struct StreamLog {
    pub(super) saver: Arc<dyn Checkpointer>,
    pub(super) thread: String,
    pub(super) ending: Arc<RunGuard>,
}

impl<S: State> EventStream<S> {
    pub(crate) fn new<F>(options: &StreamOptions, start: impl FnOnce(Emitter) -> F) -> Self
    where
        F: Future<Output = Result<Outcome<S>, AgentError>> + Send + 'static,
    {
        let (sender, events) = event_queue(options.buffer);
        let mut emitter = Emitter::new(sender, options.modes, options.subgraphs);
        emitter.checkpoint_values = options.checkpoint_values;
        let begun = Arc::clone(&emitter.start);
        Self {
            driver: Some(Box::pin(start(emitter))),
            events,
            start: begun,
            ahead: VecDeque::new(),
            seq: 0,
            outcome: None,
            failed: None,
            log: None,
        }
    }

    /// Sets the log to look at when the run is stopped.
    pub(super) fn with_log(mut self, log: Option<StreamLog>) -> Self {
        self.log = log;
        self
    }

    /// Returns the next event, or `None` at the end of the run.
    pub async fn next(&mut self) -> Option<Result<Event<S>, AgentError>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits until the run is accepted: it has its thread, its first superstep has begun, and its
    /// nodes have taken the given answers.
    ///
    /// A service calls it before it answers 200. An error of the call itself is then returned here,
    /// and is not the last item of a stream. Events in the meantime are kept, and come first in the
    /// returned stream. A run that ends earlier counts as accepted, unless it failed.
    ///
    /// With a [durability](super::Run::durability) that stores later, a conflict with another run
    /// also shows later.
    ///
    /// # Errors
    ///
    /// The error of the run: another run has the thread, there is no such thread, an answer was
    /// refused. [`AgentError::kind`] distinguishes these.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the run is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::error::ErrorKind;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// fn order(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    ///     Ok(cx.interrupt("how many", "How many?")?)
    /// }
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("order", order).add_sequence(&["order"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let run = graph.thread("unknown").proceed();
    /// let refused = run.stream(StreamMode::Updates).accepted().await.unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::NotFound);
    ///
    /// graph.run(0).thread("t").await?;
    /// let run = graph.thread("t").answer("a few");
    /// let refused = run.stream(StreamMode::Updates).accepted().await.unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::RefusedAnswer);
    ///
    /// let events = graph.thread("t").answer(3).stream(StreamMode::Updates).accepted().await?;
    /// assert_eq!(events.finish().await?.finished()?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn accepted(mut self) -> Result<Self, AgentError> {
        std::future::poll_fn(|cx| {
            while self.start.poll_accepted(cx).is_pending() {
                match self.poll_raw(cx) {
                    Poll::Ready(Some(Ok(raw))) => self.ahead.push_back(raw),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                    Poll::Ready(None) => break,
                    // This poll may have accepted the run.
                    Poll::Pending => return self.start.poll_accepted(cx).map(Ok),
                }
            }
            Poll::Ready(Ok(()))
        })
        .await?;
        Ok(self)
    }

    /// Returns the id of the run, as its nodes see it in
    /// [`Context::run_id`](crate::Context::run_id).
    pub fn run_id(&self) -> &str {
        &self.start.run_id
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

    /// Stops the run where it is, waits until nothing of it is written any more, and returns the
    /// checkpoint at which its thread now stands; `None` without a thread.
    ///
    /// Dropping the stream stops the run too, and the record that is being written is its last one.
    /// But only this call knows when that is so.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the thread cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph
    ///     .add_node("double", |n: &i64| n * 2)
    ///     .add_node("wait", |_: i64| std::future::pending::<i64>())
    ///     .add_sequence(&["double", "wait"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let mut events = graph.run(21).thread("t").stream(StreamMode::Updates);
    /// events.next().await; // `double` has run
    /// let stopped = events.stop().await?;
    ///
    /// let state = graph.thread("t").state().await?.unwrap();
    /// assert_eq!((Some(state.id), state.values), (stopped, 42));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stop(mut self) -> Result<Option<CheckpointId>, AgentError> {
        self.driver = None;
        let Some(log) = self.log else {
            return Ok(None);
        };
        log.ending.drained().await;
        if let Some(failure) = log.ending.take_failure() {
            return Err(failure.into());
        }
        let head = log.saver.head(&ThreadKey::root(log.thread)).await?;
        Ok(head.map(|head| head.id))
    }

    /// Returns the outcome after the end of the stream; `None` before, or if the run failed.
    pub fn outcome(&self) -> Option<&Outcome<S>> {
        self.outcome.as_ref()
    }

    /// Returns the fields that were written in the state at the end of the run, after the end of the stream;
    /// `None` before, and if that is [unknown](crate::state::TrackedState::written).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Order {
    ///     item: String,
    ///     price: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<Order>::new();
    /// graph.add_node("look", |_: &Order| ()).add_sequence(&["look"]);
    ///
    /// let run = graph.compile()?.run(OrderUpdate::default().item("tea".to_owned()));
    /// let mut events = run.stream(StreamMode::Updates);
    /// while let Some(event) = events.next().await {
    ///     event?;
    /// }
    /// // Nothing has written the price.
    /// let written = events.written().unwrap_or_default();
    /// assert_eq!(written.iter().collect::<Vec<_>>(), [0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn written(&self) -> Option<FieldSet> {
        self.start.written()
    }

    fn poll_raw(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RawEvent, AgentError>>> {
        // Buffered events first: the run does not advance further than its reader asks.
        if let Some(raw) = self.events.pop() {
            return Poll::Ready(Some(Ok(raw)));
        }
        self.poll_driver(cx)
    }

    fn poll_driver(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RawEvent, AgentError>>> {
        if let Some(driver) = &mut self.driver
            && let Poll::Ready(result) = driver.as_mut().poll(cx)
        {
            self.driver = None;
            // A clone of a context may outlive the run; the buffered events are still read.
            self.events.close();
            match result {
                Ok(outcome) => self.outcome = Some(outcome),
                Err(error) => self.failed = Some(error),
            }
        }
        match self.events.poll_pop(cx) {
            Poll::Ready(Some(raw)) => Poll::Ready(Some(Ok(raw))),
            // The run has ended; only its error is left.
            Poll::Ready(None) if self.driver.is_none() => Poll::Ready(self.failed.take().map(Err)),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    #[inline]
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
        let next = match this.ahead.pop_front() {
            Some(raw) => Some(Ok(raw)),
            None => ready!(this.poll_raw(cx)),
        };
        Poll::Ready(next.map(|raw| raw.map(|raw| this.event(raw))))
    }
}

impl<S: State> Unpin for EventStream<S> {}

impl_debug!([S: State] EventStream<S>, |stream| seq = stream.seq, ended = stream.driver.is_none());
