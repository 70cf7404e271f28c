//! The interface of `OpenAI`'s chat completions, for front ends that know no other.
//!
//! A model is a graph whose state has messages. A request brings the whole conversation, and leaves
//! no thread behind. The tools of the graph run here, so a client sees the text and not the calls.

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, StreamExt};
use langgraph_http::{BrokenOff, Frame, Sse};
use serde::Deserialize;
use serde_json::{Value, json};

use super::address::Path;
use super::encoded::encoded;
use super::query::Body;
use super::runs::{event_stream, permit};
use crate::encode::openai::{Answer, OpenAi, ResponseHead};
use crate::error::ApiError;
use crate::guard::Access;
use crate::runs::{Disconnect, Modes, OnDisconnect, RunRequest, accept};
use crate::spec::Mode;
use crate::stream::FeedReader;

#[derive(Debug, Deserialize)]
pub(super) struct Completion {
    model: String,
    messages: Vec<Value>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: Value,
    #[serde(default)]
    metadata: Value,
}

/// An error in the form that `OpenAI`'s clients read.
fn error(status: StatusCode, message: &str, code: &str) -> Response {
    let kind = if status.is_server_error() {
        "server_error"
    } else {
        "invalid_request_error"
    };
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    (status, Json(json!({"error": error}))).into_response()
}

fn refused(problem: &ApiError) -> Response {
    let status = problem.status();
    let code = if status == StatusCode::SERVICE_UNAVAILABLE {
        "unavailable"
    } else {
        "invalid_request"
    };
    let mut response = error(status, problem.detail(), code);
    response.headers_mut().extend(problem.retry_after());
    response
}

/// Returns the graphs that hold a conversation, by name.
fn models(app: &Access) -> Vec<&String> {
    let graphs = app.graphs.iter().filter(|(_, graph)| {
        let mut fields = graph.topology().fields.iter();
        fields.any(|field| field.name == "messages")
    });
    graphs.map(|(name, _)| name).collect()
}

fn model(name: &str) -> Value {
    json!({"id": name, "object": "model", "created": 0, "owned_by": "langgraph"})
}

fn unknown(name: &str) -> Response {
    let message = format!("The model '{name}' does not exist");
    error(StatusCode::NOT_FOUND, &message, "model_not_found")
}

pub(super) async fn list(app: Access) -> Json<Value> {
    let data: Vec<Value> = models(&app).into_iter().map(|name| model(name)).collect();
    Json(json!({"object": "list", "data": data}))
}

pub(super) async fn read(app: Access, Path(name): Path<String>) -> Response {
    if models(&app).contains(&&name) {
        Json(model(&name)).into_response()
    } else {
        unknown(&name)
    }
}

pub(super) async fn complete(app: Access, Body(given): Body<Completion>) -> Response {
    if !models(&app).contains(&&given.model) && app.assistant(&given.model).await.is_err() {
        return unknown(&given.model);
    }
    let permit = match permit(&app) {
        Ok(permit) => permit,
        Err(problem) => return refused(&problem),
    };
    let sent = given.messages.len();
    let request = RunRequest {
        assistant_id: given.model.clone(),
        input: json!({"messages": given.messages}),
        metadata: match given.metadata {
            Value::Object(metadata) => Some(metadata),
            _ => None,
        },
        stream_mode: Some(Modes(vec![Mode::Values, Mode::MessagesTuple])),
        on_disconnect: Some(OnDisconnect::Cancel),
        ..RunRequest::default()
    };
    let run = match accept(&app, None, request).await {
        Ok(run) => run,
        Err(problem) => return refused(&problem),
    };
    let guard = Disconnect::new(&app, &run.row.run_id, run.cancel_on_disconnect).without_return();
    let head = ResponseHead::new(&given.model);
    if given.stream {
        let usage = given.stream_options["include_usage"] == true;
        let encoder = OpenAi::new(head, sent, usage);
        let frames = whole(encoded(run.events, encoder, guard));
        return event_stream(permit, HeaderMap::new(), Sse::new(frames.boxed()));
    }
    answered(&head, run.events, guard, sent).await
}

/// Waits for the end of the run, and returns the whole answer.
async fn answered(
    head: &ResponseHead,
    mut events: FeedReader,
    mut guard: Disconnect,
    sent: usize,
) -> Response {
    let mut answer = Answer::new(sent);
    loop {
        match events.next().await {
            Ok(Some(event)) => drop(answer.event(&event)),
            Ok(None) => break,
            Err(BrokenOff) => {
                guard.broken_off().await;
                return refused(&ApiError::unavailable());
            }
        }
    }
    guard.disarm();
    if let Some(problem) = answer.problem() {
        return error(problem.status, &problem.message, problem.code);
    }
    Json(head.completion(&answer)).into_response()
}

/// Ends frames that break off with an error: this protocol cannot continue them.
fn whole(
    frames: impl Stream<Item = Result<Frame, BrokenOff>> + Send + 'static,
) -> impl Stream<Item = Frame> + Send + 'static {
    frames.map(|frame| {
        frame.unwrap_or_else(|_| {
            let error = json!({
                "message": "the server stops; try again", "type": "server_error", "param": null,
                "code": "unavailable",
            });
            Frame::data_only(json!({"error": error}).to_string())
        })
    })
}
