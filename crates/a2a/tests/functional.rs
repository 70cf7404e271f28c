//! An entrypoint as an agent over A2A.

#![allow(clippy::unwrap_used)] // in what the tests share

use langgraph::prelude::*;
use langgraph_a2a::A2aServer;
use langgraph_functional::{EntrypointExt, entrypoint, task};
use langgraph_remote::serve;
use serde_json::json;
use tokio::net::TcpListener;

#[task]
async fn write(topic: String) -> String {
    format!("On {topic}.")
}

#[entrypoint]
async fn publish(topic: String, cx: &Context) -> Result<String, NodeError> {
    let text = write(topic).on(cx).await?;
    Ok(text.to_uppercase())
}

#[tokio::test]
async fn an_entrypoint_answers_over_a2a() {
    let graph = publish.compile().unwrap();
    let agent = serve(graph, publish, |state| state.output);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(A2aServer::new("publish", agent).serve(listener));

    let request = reqwest::Client::new()
        .post(format!("http://{address}/"))
        .header("a2a-version", "1.0")
        .json(&json!({
            "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
            "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "moss"}]}},
        }));
    let answer = request.send().await.unwrap().text().await.unwrap();
    assert!(answer.contains("ON MOSS."), "{answer}");
}
