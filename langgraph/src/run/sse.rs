//! Server-sent events.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::Serialize;
use serde_json::json;

use super::{EventStream, Outcome};
use crate::state::State;
use crate::stream::Event;

/// Returns the events of a run as the body of a `text/event-stream` response.
///
/// The result is a stream of texts, one server-sent event each, which any HTTP library accepts as a
/// body. The run advances only while the body is read, and stops when the client disconnects.
///
/// # Wire form
///
/// ```text
/// id: 0
/// event: update
/// data: {"seq":0,"step":1,"namespace":[],"type":"update","data":{..}}
///
/// ```
///
/// `event` is the kind of the event ([`EventKind::name`](crate::stream::EventKind::name)), `data`
/// the [`Event`] as JSON on one line. The last event is `end`, with the data `{"status":"done"}`
/// (with `"unfilled_joins":[..]` if there are some) or
/// `{"status":"interrupted","next":[..],"interrupts":[..]}`. If the run fails, the last event is
/// `error`, with the data `{"message":".."}`.
///
/// # Examples
///
/// ```
/// use futures_util::StreamExt as _;
/// use langgraph::prelude::*;
/// use langgraph::run::sse;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let graph = graph.compile()?;
///
/// let events = graph.run(21).stream(StreamMode::Custom | StreamMode::Values);
/// let body = sse(events).map(Ok::<_, std::convert::Infallible>);
/// // With axum: `([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(body))`.
///
/// let texts: Vec<_> = body.map(Result::unwrap).collect().await;
/// assert_eq!(texts.len(), 3);
/// assert!(texts[1].starts_with("id: 1\nevent: values\ndata: {"));
/// assert_eq!(texts[2], "event: end\ndata: {\"status\":\"done\"}\n\n");
/// # Ok(())
/// # }
/// ```
pub fn sse<S>(events: EventStream<S>) -> Sse<S>
where
    S: State<Update: Serialize> + Serialize,
{
    Sse {
        events,
        ended: false,
    }
}

/// A run as server-sent events; see [`sse`].
#[must_use = "a stream does nothing unless it is read"]
pub struct Sse<S: State> {
    events: EventStream<S>,
    ended: bool,
}

impl<S> Stream for Sse<S>
where
    S: State<Update: Serialize> + Serialize,
{
    type Item = String;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<String>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        Pin::new(&mut this.events).poll_next(cx).map(|item| {
            let text = match item {
                Some(Ok(event)) => match frame(&event) {
                    Ok(text) => return Some(text),
                    Err(problem) => failed(&problem),
                },
                Some(Err(error)) => failed(&error),
                None => this.events.outcome().map_or_else(String::new, end),
            };
            this.ended = true;
            (!text.is_empty()).then_some(text)
        })
    }
}

fn frame<S>(event: &Event<S>) -> Result<String, serde_json::Error>
where
    S: State<Update: Serialize> + Serialize,
{
    // JSON escapes line breaks in strings and has no others here, so one `data` line is enough.
    let data = serde_json::to_string(event)?;
    Ok(format!(
        "id: {}\nevent: {}\ndata: {data}\n\n",
        event.seq,
        event.kind.name()
    ))
}

fn failed(error: &dyn fmt::Display) -> String {
    let data = json!({"message": error.to_string()});
    format!("event: error\ndata: {data}\n\n")
}

fn end<S>(outcome: &Outcome<S>) -> String {
    let data = match outcome {
        Outcome::Done { unfilled_joins, .. } if unfilled_joins.is_empty() => {
            json!({"status": "done"})
        }
        Outcome::Done { unfilled_joins, .. } => {
            json!({"status": "done", "unfilled_joins": unfilled_joins})
        }
        Outcome::Interrupted {
            interrupts, next, ..
        } => json!({"status": "interrupted", "next": next, "interrupts": interrupts}),
    };
    format!("event: end\ndata: {data}\n\n")
}

impl<S: State> fmt::Debug for Sse<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sse")
            .field("events", &self.events)
            .field("ended", &self.ended)
            .finish()
    }
}
