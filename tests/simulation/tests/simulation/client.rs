//! A client of the servers: it asks again until it has an answer.

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::Value;

use crate::network::{Lost, Network, Reply};
use crate::world::World;

/// A client, which any server may answer.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) world: World,
    pub(crate) network: Network,
}

/// An event of a stream: its id, its kind, its data.
pub(crate) type Event = (String, String, String);

impl Client {
    async fn once(
        &self,
        method: &Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: &Value,
    ) -> Result<Reply, Lost> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() {
            Body::empty()
        } else {
            Body::from(body.to_string())
        };
        let request = request.body(body).expect("a request");
        self.network.calls.send(request).await
    }

    /// Asks until a server answers. A request with a key is carried out once.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> (StatusCode, Value) {
        let headers: Vec<_> = key
            .map(|key| ("idempotency-key", key))
            .into_iter()
            .collect();
        loop {
            if let Ok(reply) = self.once(&method, path, &headers, body).await
                && !self.may_work_later(reply.status)
            {
                let status = reply.status;
                if let Ok(text) = whole(reply).await {
                    return (status, serde_json::from_slice(&text).unwrap_or(Value::Null));
                }
            }
            self.pause().await;
        }
    }

    /// Asks one server once, after a pause; `None` if it is not known what became of the request.
    pub(crate) async fn try_once(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Option<(StatusCode, Value)> {
        self.pause().await;
        self.try_now(method, path, body).await
    }

    /// As [`try_once`](Self::try_once), at once.
    pub(crate) async fn try_now(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Option<(StatusCode, Value)> {
        let reply = self.once(&method, path, &[], body).await.ok()?;
        let status = reply.status;
        if self.may_work_later(status) {
            return None;
        }
        let text = whole(reply).await.ok()?;
        Some((status, serde_json::from_slice(&text).unwrap_or(Value::Null)))
    }

    /// Returns true if the server drains, or its database fails.
    fn may_work_later(&self, status: StatusCode) -> bool {
        status == StatusCode::SERVICE_UNAVAILABLE
            || (status == StatusCode::INTERNAL_SERVER_ERROR && self.world.has_failed())
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask(Method::GET, path, None, &Value::Null).await;
        self.succeeds(status, path, &answer);
        answer
    }

    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Value {
        let (status, answer) = self.ask(Method::POST, path, key, body).await;
        self.succeeds(status, path, &answer);
        answer
    }

    fn succeeds(&self, status: StatusCode, path: &str, answer: &Value) {
        if status != StatusCode::OK {
            self.world
                .violate(format!("{path} answers {status}: {answer}"));
        }
    }

    /// Removes a thread. An earlier attempt may have removed it.
    pub(crate) async fn remove(&self, thread: &str) {
        let removed = self.ask(Method::DELETE, thread, None, &Value::Null);
        let (status, text) = removed.await;
        if status != StatusCode::NO_CONTENT && status != StatusCode::NOT_FOUND {
            let text = format!("{thread} is not removed: {status}, {text}");
            self.world.violate(text);
        }
    }

    /// Waits before the next attempt.
    pub(crate) async fn pause(&self) {
        tokio::time::sleep(self.world.up_to(400)).await;
    }

    /// Reads all events of a run, from whichever server has them, until its stream has ended.
    /// `seen` is the last one that it does not need. Also returns how the run has ended; nothing if it was removed.
    pub(crate) async fn watch(&self, run: &str, seen: &str) -> (Vec<Event>, String) {
        let path = format!("{run}/stream");
        let mut events: Vec<Event> = Vec::new();
        loop {
            let last = events.last().map_or(seen, |(id, ..)| id).to_owned();
            let headers = [("last-event-id", &*last)];
            let reply = self.once(&Method::GET, &path, &headers, &Value::Null).await;
            let has_ended = match reply {
                // A run that was taken back is removed.
                Ok(reply) if reply.status == StatusCode::NOT_FOUND => {
                    return (events, String::new());
                }
                Ok(reply) if reply.status == StatusCode::OK => {
                    read(reply, &mut events, |_| false).await
                }
                _ => false,
            };
            if has_ended {
                let (found, row) = self.ask(Method::GET, run, None, &Value::Null).await;
                let status = match found {
                    StatusCode::NOT_FOUND => "",
                    _ => row["status"].as_str().unwrap_or("?"),
                };
                if !matches!(status, "pending" | "running") {
                    return (events, status.to_owned());
                }
            }
            self.pause().await;
        }
    }

    /// Reads the events of a stream that does not end, from its first one on, until they are enough.
    pub(crate) async fn follow(
        &self,
        path: &str,
        is_enough: impl Fn(&[Event]) -> bool,
    ) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        while !is_enough(&events) {
            let last = events.last().map_or("-1", |(id, ..)| id).to_owned();
            let headers = [("last-event-id", &*last)];
            let reply = self.once(&Method::GET, path, &headers, &Value::Null).await;
            if let Ok(reply) = reply
                && reply.status == StatusCode::OK
            {
                read(reply, &mut events, &is_enough).await;
            }
            self.pause().await;
        }
        events
    }
}

/// Returns the whole body.
async fn whole(mut reply: Reply) -> Result<Vec<u8>, Lost> {
    let mut text = Vec::new();
    loop {
        match reply.next().await? {
            Some(part) => text.extend_from_slice(&part),
            None => return Ok(text),
        }
    }
}

/// Adds the events of a stream, until they are enough. Returns true if it was not cut off.
async fn read(
    mut reply: Reply,
    events: &mut Vec<Event>,
    is_enough: impl Fn(&[Event]) -> bool,
) -> bool {
    let mut text = String::new();
    while !is_enough(events) {
        let part: Bytes = match reply.next().await {
            Ok(Some(part)) => part,
            Ok(None) => return true,
            Err(Lost) => return false,
        };
        text.push_str(&String::from_utf8_lossy(&part).replace("\r\n", "\n"));
        while let Some((frame, rest)) = text.split_once("\n\n") {
            let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                let id = field("id: ").unwrap_or_default().to_owned();
                let event = field("event: ").unwrap_or_default().to_owned();
                events.push((id, event, data.to_owned()));
            }
            text = rest.to_owned();
        }
    }
    true
}
