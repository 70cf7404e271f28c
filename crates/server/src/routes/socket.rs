//! Version 2 of the streaming protocol over a WebSocket: commands one way, their answers and the
//! events of subscriptions the other way.

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::address::Path;
use super::protocol::free;
use super::runs::permit;
use crate::encode::v2::Channels;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::protocol::{Command, Form, command, frames};

/// How many subscriptions a socket has at most.
const SUBSCRIPTIONS: usize = 64;

/// How many messages wait for a slow client.
const WAITING: usize = 64;

/// How often a silent socket is asked whether it is alive.
const HEARTBEAT: Duration = Duration::from_secs(20);

pub(super) async fn events(
    app: Access,
    Path(thread): Path<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let thread = free(&app, &thread).await?;
    let upgrade = upgrade.map_err(|error| ApiError::bad_request(error.to_string()))?;
    let permit = permit(&app)?;
    let body = app.limits.body;
    let upgrade = upgrade.max_message_size(body).max_frame_size(body);
    Ok(upgrade.on_upgrade(async move |socket| {
        let _held = permit;
        serve(app, thread, socket).await;
    }))
}

/// A socket with its subscriptions.
struct Connection {
    app: Access,
    thread: String,
    out: mpsc::Sender<Message>,
    subscriptions: HashMap<String, AbortHandle>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.subscriptions.values().for_each(AbortHandle::abort);
    }
}

/// Serves a client until it leaves, is silent for two heartbeats, or takes nothing for too long.
async fn serve(app: Access, thread: String, socket: WebSocket) {
    let patience = app.limits.client_timeout;
    let (mut sink, mut messages) = socket.split();
    let (out, mut waiting) = mpsc::channel(WAITING);
    let mut connection = Connection {
        app,
        thread,
        out,
        subscriptions: HashMap::new(),
    };
    let writing = async {
        loop {
            let next = tokio::time::timeout(HEARTBEAT, waiting.recv()).await;
            let message = match next {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(_) => Message::Ping(Vec::new().into()),
            };
            let is_end = matches!(message, Message::Close(_));
            let sent = tokio::time::timeout(patience, sink.send(message)).await;
            if is_end || !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
    };
    let reading = async {
        loop {
            let next = tokio::time::timeout(HEARTBEAT * 2, messages.next()).await;
            let Ok(Some(Ok(message))) = next else { return };
            match message {
                Message::Text(text) => connection.take(text.as_str()).await,
                Message::Close(_) => return,
                _ => {}
            }
        }
    };
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}

impl Connection {
    /// Carries out a command, and answers it.
    async fn take(&mut self, text: &str) {
        let answer = match serde_json::from_str::<Value>(text) {
            Ok(given) => self.answer(given).await,
            Err(error) => refused(&Value::Null, "invalid_argument", &error.to_string()),
        };
        let _ = self.out.send(text_of(&answer)).await;
    }

    async fn answer(&mut self, given: Value) -> Value {
        let (id, params) = (given["id"].clone(), &given["params"]);
        match given["method"].as_str() {
            Some("subscription.subscribe") => self.subscribe(&id, params),
            Some("subscription.unsubscribe") => {
                let subscription = params["subscription_id"].as_str().unwrap_or_default();
                match self.subscriptions.remove(subscription) {
                    Some(task) => {
                        task.abort();
                        done(&id, &json!({}))
                    }
                    None => refused(
                        &id,
                        "no_such_subscription",
                        &format!("there is no subscription `{subscription}`"),
                    ),
                }
            }
            _ => match serde_json::from_value::<Command>(given) {
                Ok(given) => command(&self.app, &self.thread, given).await,
                Err(error) => refused(&id, "invalid_argument", &error.to_string()),
            },
        }
    }

    /// Sends the events of the channels from now on, after those that there are already.
    fn subscribe(&mut self, id: &Value, params: &Value) -> Value {
        self.subscriptions.retain(|_, task| !task.is_finished());
        if self.subscriptions.len() >= SUBSCRIPTIONS {
            let message = format!("a socket has at most {SUBSCRIPTIONS} subscriptions");
            return refused(id, "invalid_argument", &message);
        }
        let channels = serde_json::from_value::<Channels>(params.clone());
        let channels = match channels.map(Channels::checked) {
            Ok(Ok(channels)) => channels,
            Ok(Err(error)) => return refused(id, "invalid_argument", error.detail()),
            Err(error) => return refused(id, "invalid_argument", &error.to_string()),
        };
        let since = channels.since.unwrap_or_default();
        let events = frames(
            &self.app,
            self.thread.clone(),
            Form::Events(channels),
            since,
        );
        let out = self.out.clone();
        let task = tokio::spawn(async move {
            let mut events = std::pin::pin!(events);
            while let Some(frame) = events.next().await {
                let message = match frame {
                    Ok(frame) => Message::Text(Utf8Bytes::from(frame.data())),
                    Err(_) => going_away(),
                };
                if out.send(message).await.is_err() {
                    return;
                }
            }
        });
        let subscription = Uuid::new_v4().to_string();
        let task = task.abort_handle();
        self.subscriptions.insert(subscription.clone(), task);
        done(id, &json!({"subscription_id": subscription}))
    }
}

/// The client connects again. The code is 4000 and the status that the stream of events would have.
fn going_away() -> Message {
    Message::Close(Some(CloseFrame {
        code: 4000 + StatusCode::SERVICE_UNAVAILABLE.as_u16(),
        reason: Utf8Bytes::from_static("the server stops; connect again"),
    }))
}

fn text_of(value: &Value) -> Message {
    Message::Text(value.to_string().into())
}

fn done(id: &Value, result: &Value) -> Value {
    json!({
        "type": "success", "id": id, "result": result, "meta": {"applied_through_seq": 0},
    })
}

fn refused(id: &Value, code: &str, message: &str) -> Value {
    json!({"type": "error", "id": id, "error": code, "message": message})
}
