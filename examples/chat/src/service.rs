//! The routes.

use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{delete, get, post};
use langgraph::checkpoint::{CheckpointId, Snapshot};
use langgraph::prelude::{AgentError, CompiledStateGraph, StreamMode};
use langgraph::run::{Resumed, Run};
use langgraph_agent::{MessagesStateUpdate, ToolDecision};
use langgraph_http::{Problem, Replay, Sse};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::Chat;

#[derive(Clone)]
struct Service {
    graph: CompiledStateGraph<Chat>,
    replay: Replay,
}

pub(crate) fn router(graph: CompiledStateGraph<Chat>, replay: Replay) -> Router {
    Router::new()
        .route("/threads/{thread}", get(read))
        .route("/threads/{thread}/messages", post(say))
        .route("/threads/{thread}/answers", post(answer))
        .route("/threads/{thread}/events", get(events))
        .route("/threads/{thread}/run", delete(cancel))
        .route("/threads/{thread}/history", get(history))
        .route("/threads/{thread}/fork", post(fork))
        .with_state(Service { graph, replay })
}

impl Service {
    /// Starts a run and streams it. What is wrong with the request is the status of the response:
    /// 409 when another run has the thread, 404, 422.
    async fn start(&self, thread: String, run: Run<Chat>) -> Result<Sse, Problem> {
        let modes = StreamMode::Messages | StreamMode::Updates;
        let events = run.stream(modes).accepted().await?;
        let body = self.replay.keep(thread, events);
        Ok(body.keep_alive(Duration::from_secs(15)))
    }
}

#[derive(Deserialize)]
struct Say {
    text: String,
}

/// The next message of the user.
async fn say(
    State(service): State<Service>,
    Path(thread): Path<String>,
    Json(Say { text }): Json<Say>,
) -> Result<Sse, Problem> {
    let run = service
        .graph
        .thread(&*thread)
        .run(MessagesStateUpdate::user(text));
    service.start(thread, run).await
}

#[derive(Deserialize)]
struct Answer {
    question: String,
    decision: Value,
}

/// What a person decides about a tool call. An answer that will not do is a 422, and the question
/// stays open.
async fn answer(
    State(service): State<Service>,
    Path(thread): Path<String>,
    Json(Answer { question, decision }): Json<Answer>,
) -> Result<Sse, Problem> {
    let decision: Result<ToolDecision, _> = serde_json::from_value(decision);
    let decision =
        decision.map_err(|error| Problem::new(422, "refused_answer", error.to_string()))?;
    let run = service.graph.thread(&*thread).resume(question, decision);
    service.start(thread, run).await
}

/// The events of the thread's run: for a client that has lost its connection, or a second one.
async fn events(
    State(service): State<Service>,
    Path(thread): Path<String>,
    headers: HeaderMap,
) -> Result<Sse, Problem> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let body = match last {
        Some(id) => service.replay.resume(&thread, id)?,
        None => service.replay.follow(&thread)?,
    };
    Ok(body.keep_alive(Duration::from_secs(15)))
}

/// Stops the thread's run.
async fn cancel(State(service): State<Service>, Path(thread): Path<String>) -> StatusCode {
    if service.replay.cancel(&thread) {
        StatusCode::NO_CONTENT
    } else {
        StatusCode::NOT_FOUND
    }
}

fn shown(snapshot: &Snapshot<Chat>) -> Value {
    json!({
        "checkpoint": snapshot.id,
        "messages": snapshot.values.messages,
        "questions": snapshot.interrupts,
        "next": snapshot.next,
    })
}

fn unknown(thread: &str) -> Problem {
    Problem::new(404, "not_found", format!("there is no thread `{thread}`"))
}

/// The chat, and what is open in it.
async fn read(
    State(service): State<Service>,
    Path(thread): Path<String>,
) -> Result<Json<Value>, Problem> {
    match service.graph.thread(&*thread).state().await? {
        Some(snapshot) => Ok(Json(shown(&snapshot))),
        None => Err(unknown(&thread)),
    }
}

/// All checkpoints of the chat, the newest first.
async fn history(
    State(service): State<Service>,
    Path(thread): Path<String>,
) -> Result<Json<Value>, Problem> {
    let history = service.graph.thread(&*thread).history().await?;
    Ok(Json(history.iter().map(shown).collect()))
}

#[derive(Deserialize)]
struct Fork {
    checkpoint: CheckpointId,
}

/// Goes back: the chat continues from a copy of an earlier checkpoint.
async fn fork(
    State(service): State<Service>,
    Path(thread): Path<String>,
    Json(Fork { checkpoint }): Json<Fork>,
) -> Result<Json<Value>, Problem> {
    service.graph.thread(&*thread).at(checkpoint).fork().await?;
    read(State(service), Path(thread)).await
}

/// Resumes the runs that vanished with an earlier process, side by side. A lease of the dead process
/// may hold a thread for a while: each waits for its own.
pub(crate) async fn recover(graph: &CompiledStateGraph<Chat>) -> Result<(), AgentError> {
    let recovery = graph
        .threads()
        .resume_pending(Duration::ZERO)
        .wait(Duration::from_secs(120))
        .concurrency(16);
    for Resumed {
        thread, outcome, ..
    } in recovery.await?
    {
        match outcome {
            Ok(_) => println!("recovered `{thread}`"),
            Err(error) => println!("`{thread}` was not recovered: {error}"),
        }
    }
    Ok(())
}
