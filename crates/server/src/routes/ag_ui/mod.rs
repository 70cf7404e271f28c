//! AG-UI: one endpoint, through which front ends run a graph as an agent.
//!
//! The thread of the client is a thread of the server, so its runs, its state and its history are there
//! for every other client too.

mod input;
mod messages;
mod output;

use std::convert::Infallible;

use axum::body::Body as HttpBody;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};

use super::events::events;
use super::query::Body;
use super::runs;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::threads::find;
use input::RunAgentInput;
use output::Output;

fn line(event: &Value) -> String {
    format!("data: {event}\n\n")
}

fn response(lines: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = HttpBody::from_stream(lines.map(Ok::<_, Infallible>));
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    (headers, body).into_response()
}

/// A run that cannot start is a run that has failed: clients read events, not statuses.
fn refused(input: &RunAgentInput, error: &ApiError) -> Response {
    let events = [
        json!({"type": "RUN_STARTED", "threadId": input.thread_id, "runId": input.run_id}),
        json!({"type": "RUN_ERROR", "message": error.detail(), "code": "INVALID_REQUEST"}),
    ];
    response(stream::iter(events.map(|event| line(&event))))
}

/// Runs the graph of an assistant on the client's thread.
pub(super) async fn run(
    app: Access,
    Path(assistant): Path<String>,
    Body(input): Body<RunAgentInput>,
) -> ApiResult<Response> {
    let assistant = app.assistant(&assistant).await?;
    let thread = input.thread(app.owner());
    let graph = app.graph(&assistant.graph_id)?;
    let state = match find(&app, &thread).await {
        Ok(_) => graph.state(&thread, None, false).await?,
        Err(_) => None,
    };
    let state = state.unwrap_or_default();
    let request = match input.request(&assistant.assistant_id, &state) {
        Ok(request) => request,
        Err(error) => return Ok(refused(&input, &error)),
    };
    let events = match runs::stream(app.clone(), Path(thread.clone()), Body(request)).await {
        Ok(response) => events(response),
        Err(error) => return Ok(refused(&input, &error)),
    };
    let output = Output::new(&input, &state);
    // What is told last depends on where the thread stands when the run has ended.
    let told = events.map(Some).chain(stream::once(async { None }));
    let told = stream::unfold((Box::pin(told), output), move |(mut told, mut output)| {
        let (graph, thread) = (std::sync::Arc::clone(&graph), thread.clone());
        async move {
            let lines = if let Some(event) = told.next().await? {
                output.event(event)
            } else {
                let state = graph.state(&thread, None, false).await;
                output.end(&state.ok().flatten().unwrap_or_default())
            };
            Some((stream::iter(lines), (told, output)))
        }
    });
    let lines = told.flatten().map(|event| line(&event));
    Ok(response(lines))
}
