//! A client of a server.

use langgraph_client::{Client, RunStream};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{Fallible, KeptEvent};

/// The project's client, and the routes that it has no method for.
#[derive(Debug)]
pub struct Api {
    /// The project's client.
    pub client: Client,
    http: reqwest::Client,
    url: String,
}

impl Api {
    /// A client for the server at that address.
    pub fn new(url: &str) -> Fallible<Self> {
        Ok(Self {
            client: Client::new(url)?,
            http: reqwest::Client::new(),
            url: url.to_owned(),
        })
    }

    /// Sends a request, and returns its answer.
    pub async fn post(&self, path: &str, body: Value) -> Fallible<Value> {
        let request = self
            .http
            .request(Method::POST, format!("{}{path}", self.url));
        let answer = request.json(&body).send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        if !status.is_success() {
            return Err(format!("{path}: {status}: {text}").into());
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Returns the versions of an assistant, the newest first.
    pub async fn versions(&self, assistant: &str) -> Fallible<Value> {
        let path = format!("/assistants/{assistant}/versions");
        self.post(&path, json!({})).await
    }

    /// Returns the events of a run after the one of this id, to the end of the run.
    pub async fn events(&self, thread: &str, run: &str, last: &str) -> Fallible<Vec<KeptEvent>> {
        let mut stream = self.client.join_stream(thread, run, Some(last)).await?;
        let mut events = Vec::new();
        while let Some(event) = next(&mut stream).await? {
            events.push(event);
        }
        Ok(events)
    }
}

/// The next event of a stream.
pub(crate) async fn next(stream: &mut RunStream) -> Fallible<Option<KeptEvent>> {
    let Some(event) = stream.next().await else {
        return Ok(None);
    };
    let event = event?;
    Ok(Some(KeptEvent {
        id: event.id.ok_or("an event without an id")?,
        event: event.event,
        data: event.data,
    }))
}

/// A text of an answer.
pub(crate) fn text(answer: &Value, field: &str) -> Fallible<String> {
    let text = answer[field].as_str();
    Ok(text
        .ok_or_else(|| format!("no `{field}` in {answer}"))?
        .to_owned())
}
