//! The body of a `text/event-stream` response.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use langgraph::run::EventStream;
use langgraph::state::State;
use serde::Serialize;
use tokio::time::Sleep;

use crate::{Frame, Frames};

/// The events of a run as the body of a `text/event-stream` response.
///
/// The run goes on only while the body is read, and stops when the client goes away. To keep what
/// a client has missed, see [`Replay`](crate::Replay).
///
/// # Wire form
///
/// ```text
/// event: update
/// data: {"seq":0,"step":1,"namespace":[],"type":"update","data":{..}}
/// id: 0192f4a6-…:0
///
/// ```
///
/// `id` is a [`FrameId`](crate::FrameId). `event` is the kind of the event
/// ([`EventKind::name`](langgraph::stream::EventKind::name)), `data` the
/// [`Event`](langgraph::stream::Event) as JSON on one line. The last one is `end`, whose data is
/// `{"status":"done"}` (with `"unfilled_joins":[..]` when there are some) or
/// `{"status":"interrupted","next":[..],"interrupts":[..]}`. When the run fails, it is `error`:
///
/// ```text
/// {"code":"node","message":"node `plan` failed: ..","retry":false,"node":"plan","namespace":[]}
/// ```
///
/// `code` is [`ErrorKind::code`](langgraph::error::ErrorKind::code), and `retry` says whether a retry
/// helps.
///
/// # Examples
///
/// ```
/// use futures_util::StreamExt as _;
/// use langgraph::prelude::*;
/// use langgraph_http::sse;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
///
/// let events = graph.compile()?.run(21).stream(StreamMode::Values);
/// let run = events.run_id().to_owned();
/// let texts: Vec<_> = sse(events).collect().await;
/// assert_eq!(texts.len(), 3);
/// assert!(texts[1].starts_with("event: values\ndata: {"));
/// assert_eq!(texts[2], format!("event: end\ndata: {{\"status\":\"done\"}}\nid: {run}:2\n\n"));
/// # Ok(())
/// # }
/// ```
pub fn sse<S>(events: EventStream<S>) -> Sse
where
    S: State<Update: Serialize> + Serialize,
{
    Sse::new(Frames::new(events))
}

/// The body of a `text/event-stream` response; see [`sse`].
///
/// It is a stream of texts. With the feature `axum` it is a response.
#[must_use = "a stream does nothing unless it is read"]
pub struct Sse {
    frames: Pin<Box<dyn Stream<Item = Result<Frame, BrokenOff>> + Send>>,
    keep_alive: Option<KeepAlive>,
    broken_off: bool,
}

/// The end of a body whose run has not ended. The connection is closed in the middle of the body,
/// so that a client takes it for a lost one, and comes again with the id of its last event.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream breaks off before its run has ended")]
pub struct BrokenOff;

struct KeepAlive {
    every: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Sse {
    /// The body of these frames.
    pub fn new(frames: impl Stream<Item = Frame> + Send + 'static) -> Self {
        Self::breakable(Whole(Box::pin(frames)))
    }

    /// The body of frames that may break off.
    pub fn breakable(
        frames: impl Stream<Item = Result<Frame, BrokenOff>> + Send + 'static,
    ) -> Self {
        Self {
            frames: Box::pin(frames),
            keep_alive: None,
            broken_off: false,
        }
    }

    /// Returns true if the body has ended before its run: the connection should be closed without
    /// the body's end. The response of axum does so.
    pub fn is_broken_off(&self) -> bool {
        self.broken_off
    }

    /// Sends a comment when nothing else was sent for that long, so that no proxy closes the
    /// connection while a node works. It needs a tokio runtime.
    pub fn keep_alive(mut self, every: Duration) -> Self {
        self.keep_alive = Some(KeepAlive { every, sleep: None });
        self
    }
}

impl Stream for Sse {
    type Item = String;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<String>> {
        if let Poll::Ready(frame) = self.frames.as_mut().poll_next(cx) {
            if let Some(keep_alive) = &mut self.keep_alive {
                keep_alive.sleep = None;
            }
            return Poll::Ready(match frame {
                Some(Ok(frame)) => Some(frame.to_string()),
                Some(Err(BrokenOff)) => {
                    self.broken_off = true;
                    None
                }
                None => None,
            });
        }
        let Some(KeepAlive { every, sleep }) = &mut self.keep_alive else {
            return Poll::Pending;
        };
        let every = *every;
        let due = sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(every)));
        due.as_mut().poll(cx).map(|()| {
            *sleep = None;
            Some(":\n\n".to_owned())
        })
    }
}

/// Frames that never break off.
struct Whole<F>(Pin<Box<F>>);

impl<F: Stream<Item = Frame>> Stream for Whole<F> {
    type Item = Result<Frame, BrokenOff>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut()
            .0
            .as_mut()
            .poll_next(cx)
            .map(|frame| frame.map(Ok))
    }
}

impl fmt::Debug for Sse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sse")
    }
}

langgraph::debug_is_message!(BrokenOff);
