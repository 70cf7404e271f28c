//! Remote nodes over A2A behave as in one process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use langgraph_a2a::{A2aClient, A2aServer};
use langgraph_remote::AgentHandler;
use tokio::net::TcpListener;

#[path = "../../remote/tests/rows/mod.rs"]
mod rows;

async fn serve(server: A2aServer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(server.serve(listener));
    url
}

async fn agent(id: &str, handler: impl AgentHandler) -> String {
    serve(A2aServer::new(id, handler)).await
}

#[tokio::test]
async fn every_row_holds_over_a2a() {
    let log = Arc::default();
    let agents = A2aClient::new()
        .agent("worker", agent("worker", rows::worker(&log)).await)
        .agent("mail", agent("mail", rows::mail()).await);
    rows::hold(Arc::new(agents), &log).await;
}
