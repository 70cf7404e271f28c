//! The interface of `OpenAI`'s chat completions, for front ends that know no other.
//!
//! A model is a graph whose state has messages. A request brings the whole conversation, and leaves
//! no thread behind. The tools of the graph run here, so a client sees the text and not the calls.

mod answer;

use std::convert::Infallible;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::events::events;
use super::query::Body;
use super::runs;
use crate::error::ApiError;
use crate::guard::Access;
use crate::runs::RunRequest;
use answer::Answer;

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
    error(problem.status(), problem.detail(), "invalid_request")
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

/// What all parts of one answer have in common.
#[derive(Clone)]
struct Head {
    id: String,
    created: u64,
    model: String,
}

impl Head {
    fn new(model: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            id: format!("chatcmpl-{}", Uuid::now_v7().simple()),
            created: now.map_or(0, |now| now.as_secs()),
            model: model.to_owned(),
        }
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices,
        })
    }

    fn delta(&self, delta: &Value, finish: Option<&str>) -> Value {
        self.chunk(&json!([{
            "index": 0, "delta": delta, "finish_reason": finish, "logprobs": null,
        }]))
    }
}

pub(super) async fn complete(app: Access, Body(given): Body<Completion>) -> Response {
    if !models(&app).contains(&&given.model) && app.assistant(&given.model).await.is_err() {
        return unknown(&given.model);
    }
    let sent = given.messages.len();
    let request = RunRequest {
        assistant_id: given.model.clone(),
        input: Some(json!({"messages": given.messages})),
        metadata: given.metadata.is_object().then_some(given.metadata),
        stream_mode: Some(json!(["values", "messages-tuple"])),
        on_disconnect: Some("cancel".to_owned()),
        ..RunRequest::default()
    };
    let events = match runs::stream_stateless(app, Body(request)).await {
        Ok(response) => events(response),
        Err(problem) => return refused(&problem),
    };
    let head = Head::new(&given.model);
    if given.stream {
        let usage = given.stream_options["include_usage"] == true;
        return streamed(head, events, sent, usage);
    }
    let mut answer = Answer::new(sent);
    let mut events = Box::pin(events);
    while let Some(told) = events.next().await {
        answer.event(told);
    }
    answer.end();
    if let Some(problem) = answer.problem() {
        return error(problem.status, &problem.message, problem.code);
    }
    let message = json!({"role": "assistant", "content": answer.text, "refusal": null});
    Json(json!({
        "id": head.id, "object": "chat.completion", "created": head.created, "model": head.model,
        "choices": [{
            "index": 0, "message": message, "finish_reason": "stop", "logprobs": null,
        }],
        "usage": answer.usage(),
    }))
    .into_response()
}

/// Returns the lines that end a stream.
fn last(head: &Head, answer: &Answer, usage: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(problem) = answer.problem() {
        let error = json!({
            "message": problem.message, "type": "server_error", "param": null,
            "code": problem.code,
        });
        lines.push(json!({"error": error}).to_string());
    } else {
        lines.push(head.delta(&json!({}), Some("stop")).to_string());
        if usage {
            let mut last = head.chunk(&json!([]));
            last["usage"] = answer.usage();
            lines.push(last.to_string());
        }
    }
    lines.push("[DONE]".to_owned());
    lines
}

fn streamed(
    head: Head,
    events: impl stream::Stream<Item = super::events::Told> + Send + 'static,
    sent: usize,
    usage: bool,
) -> Response {
    let first = head.delta(&json!({"role": "assistant", "content": ""}), None);
    let told = events.map(Some).chain(stream::once(async { None }));
    let rest = stream::unfold(
        (Box::pin(told), Answer::new(sent), head),
        move |(mut told, mut answer, head)| async move {
            let mut lines: Vec<String> = Vec::new();
            let content = |text: String| head.delta(&json!({"content": text}), None).to_string();
            if let Some(event) = told.next().await? {
                lines.extend(answer.event(event).map(content));
            } else {
                lines.extend(answer.end().map(content));
                lines.extend(last(&head, &answer, usage));
            }
            Some((stream::iter(lines), (told, answer, head)))
        },
    );
    let lines = stream::iter([first.to_string()]).chain(rest.flatten());
    let lines = lines.map(|line| Ok::<_, Infallible>(format!("data: {line}\n\n")));
    let mut response = HttpBody::from_stream(lines).into_response();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}
