//! A server on a socket, and a client for it.

#![allow(dead_code)] // no test needs all of it
#![allow(clippy::panic)] // a test fails by panicking

use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::graph::{START, StateGraph};
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::Server;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) struct Api {
    pub(crate) client: Client,
    pub(crate) url: String,
    token: Option<&'static str>,
}

impl Api {
    pub(crate) async fn serve(server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { server.serve_on(listener).await.unwrap() });
        Self::at(url)
    }

    pub(crate) fn at(url: String) -> Self {
        let client = Client::new();
        let token = None;
        Self { client, url, token }
    }

    pub(crate) fn with_token(&self, token: &'static str) -> Self {
        let (client, url) = (self.client.clone(), self.url.clone());
        let token = Some(token);
        Self { client, url, token }
    }

    pub(crate) fn without_token(&self) -> Self {
        let (client, url) = (self.client.clone(), self.url.clone());
        let token = None;
        Self { client, url, token }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: Value) -> Response {
        let request = self.request(method, path);
        request.json(&body).send().await.unwrap()
    }

    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Value,
    ) -> (StatusCode, Value) {
        let response = self.send(method, path, body).await;
        let status = response.status();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.call(Method::POST, path, body).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.call(Method::GET, path, json!({})).await.1
    }

    pub(crate) async fn thread(&self) -> String {
        let thread = self.post("/threads", json!({})).await;
        thread["thread_id"].as_str().unwrap().to_owned()
    }

    /// Waits until the thread is idle and has notes, and returns them.
    pub(crate) async fn noted(&self, thread: &str) -> Value {
        for _ in 0..200 {
            let row = self.get(&format!("/threads/{thread}")).await;
            let notes = &row["values"]["notes"];
            if row["status"] == "idle" && notes[0].is_string() {
                return notes.clone();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the thread is not idle, or has no notes");
    }

    /// Returns the events of a stream.
    pub(crate) async fn stream(&self, thread: &str, body: Value) -> Vec<(String, Value)> {
        let path = format!("/threads/{thread}/runs/stream");
        let response = self.send(Method::POST, &path, body).await;
        assert_eq!(response.status(), 200);
        frames(&response.text().await.unwrap())
            .into_iter()
            .map(|frame| (frame.event, frame.data))
            .collect()
    }
}

/// A server of a graph with messages that pauses before its last node, and is a tool, a model and an agent.
pub(crate) async fn pausing() -> Api {
    let said = |text: &str| MessagesStateUpdate::default().messages(vec![Message::assistant(text)]);
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("draft", move |_: &MessagesState| said("A draft."))
        .add_node("publish", move |_: &MessagesState| said("Published."))
        .add_sequence(&["draft", "publish"])
        .interrupt_before(["publish"]);
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

/// Returns a server of a graph with messages that asks a question, and fails in a node beside it.
pub(crate) async fn failing() -> Api {
    async fn ask(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
        let word: String = cx.interrupt("word", "Which?")?;
        Ok(MessagesStateUpdate::default()
            .messages(vec![Message::assistant(format!("Answer: {word}"))]))
    }
    let fail = async |_: &MessagesState| -> Result<MessagesStateUpdate, NodeError> {
        // The other node has asked by then.
        tokio::time::sleep(Duration::from_millis(20)).await;
        Err(NodeError::msg("no paper"))
    };
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", ask).add_node("fail", fail);
    graph.add_edge(START, "ask").add_edge(START, "fail");
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

/// Returns a schema of its own in PostgreSQL.
#[cfg(feature = "postgres")]
pub(crate) async fn postgres() -> langgraph_postgres::Database {
    use langgraph_postgres::{Database, Options};

    let url = std::env::var("DATABASE_URL");
    let url = url.unwrap_or_else(|_| panic!("needs PostgreSQL: run it with tests/servers.sh"));
    let schema = format!("server_{}", uuid::Uuid::new_v4().simple());
    let options = Options::default().schema(schema).max_connections(8);
    Database::connect_with(&url, options).await.unwrap()
}

/// A server-sent event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) id: Option<String>,
    pub(crate) event: String,
    pub(crate) data: Value,
}

/// Reads the events of a stream; comments are left out.
pub(crate) fn frames(text: &str) -> Vec<Frame> {
    let text = text.replace("\r\n", "\n");
    let blocks = text.split("\n\n").filter(|block| block.contains("data: "));
    let read = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        Frame {
            id: field("id: ").map(str::to_owned),
            event: field("event: ").unwrap_or_default().to_owned(),
            data: serde_json::from_str(field("data: ").unwrap()).unwrap(),
        }
    };
    blocks.map(read).collect()
}
