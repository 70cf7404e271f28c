//! A server on a socket, and a client for it.

#![allow(dead_code)] // no test needs all of it

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
        tokio::spawn(server.serve_on(listener));
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

    /// Returns the events of a stream.
    pub(crate) async fn stream(&self, thread: &str, body: Value) -> Vec<(String, Value)> {
        let path = format!("/threads/{thread}/runs/stream");
        let response = self.send(Method::POST, &path, body).await;
        assert_eq!(response.status(), 200);
        let text = response.text().await.unwrap();
        let frames = text
            .split("\r\n\r\n")
            .filter(|frame| frame.starts_with("event"));
        frames
            .map(|frame| {
                let mut lines = frame.split("\r\n");
                let name = lines.next().unwrap().strip_prefix("event: ").unwrap();
                let data = lines.next().unwrap().strip_prefix("data: ").unwrap();
                (name.to_owned(), serde_json::from_str(data).unwrap())
            })
            .collect()
    }
}
