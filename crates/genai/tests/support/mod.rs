//! A provider on this machine that answers with what a test has recorded.

#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(dead_code)] // no test needs all of it

use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph_genai::Model;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One recorded answer.
#[derive(Clone)]
pub(crate) struct Answer {
    status: &'static str,
    headers: &'static str,
    body: String,
    /// The connection breaks before the body is whole.
    cut: bool,
    /// How long it says nothing after the body.
    stall: Option<Duration>,
}

impl Answer {
    pub(crate) fn json(status: &'static str, body: &Value) -> Self {
        Self {
            status,
            headers: "content-type: application/json\r\n",
            body: body.to_string(),
            cut: false,
            stall: None,
        }
    }

    /// Server-sent events, one per entry.
    pub(crate) fn events(events: &[&str]) -> Self {
        let lines = events.iter().map(|event| format!("data: {event}\n\n"));
        Self::stream("content-type: text/event-stream\r\n", lines.collect())
    }

    /// Lines of JSON.
    pub(crate) fn lines(lines: &[&str]) -> Self {
        let lines = lines.iter().map(|line| format!("{line}\n"));
        Self::stream("content-type: application/x-ndjson\r\n", lines.collect())
    }

    /// Anthropic's events, which have names.
    pub(crate) fn named_events(events: &[&str]) -> Self {
        let lines = events.iter().map(|event| {
            let kind: Value = serde_json::from_str(event).unwrap();
            let kind = kind["type"].as_str().unwrap().to_owned();
            format!("event: {kind}\ndata: {event}\n\n")
        });
        Self::stream("content-type: text/event-stream\r\n", lines.collect())
    }

    fn stream(headers: &'static str, body: String) -> Self {
        Self {
            status: "200 OK",
            headers,
            body,
            cut: false,
            stall: None,
        }
    }

    pub(crate) fn header(mut self, headers: &'static str) -> Self {
        self.headers = headers;
        self
    }

    pub(crate) fn cut(mut self) -> Self {
        self.cut = true;
        self
    }

    pub(crate) fn stall(mut self, time: Duration) -> Self {
        self.stall = Some(time);
        self
    }
}

/// A provider that gives its answers one after the other and keeps the requests.
pub(crate) struct Server {
    pub(crate) address: String,
    requests: Arc<Mutex<Vec<Value>>>,
    /// The first line and the headers of each request.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = (Arc::clone(&requests), Arc::clone(&heads));
        let answers: Vec<Answer> = answers.into_iter().collect();
        tokio::spawn(async move {
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (head, request) = read(&mut stream).await;
                seen.0.lock().unwrap().push(request);
                seen.1.lock().unwrap().push(head);
                tokio::spawn(write(stream, answer));
            }
        });
        Self {
            address,
            requests,
            heads,
        }
    }

    /// The first lines and headers of the requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// The bodies of the requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn openai(&self) -> Model {
        Model::openai("test-model")
            .api_key("k")
            .base_url(&self.address)
    }

    pub(crate) fn anthropic(&self) -> Model {
        Model::anthropic("claude-test")
            .api_key("k")
            .base_url(&self.address)
    }

    pub(crate) fn gemini(&self) -> Model {
        Model::gemini("gemini-test")
            .api_key("k")
            .base_url(&self.address)
    }

    pub(crate) fn ollama(&self) -> Model {
        let host = self.address.trim_end_matches("/v1");
        Model::ollama("llama-test").base_url(host.trim_start_matches("http://"))
    }
}

async fn read(stream: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "the request ended early");
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.expect("a length") {
            return (head.to_owned(), serde_json::from_str(body).unwrap());
        }
    }
}

async fn write(mut stream: TcpStream, answer: Answer) {
    let length = answer.body.len() + if answer.cut { 100 } else { 0 };
    let framing = if answer.stall.is_some() {
        String::new()
    } else {
        format!("content-length: {length}\r\n")
    };
    let head = format!(
        "HTTP/1.1 {}\r\n{}{framing}connection: close\r\n\r\n",
        answer.status, answer.headers
    );
    // The client may hang up first.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(answer.body.as_bytes()).await;
    let _ = stream.flush().await;
    if let Some(time) = answer.stall {
        tokio::time::sleep(time).await;
    }
    let _ = stream.shutdown().await;
}
