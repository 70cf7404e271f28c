//! Slow and silent clients lose their connections, and others are served.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::net::{TcpListener, TcpStream};

use crate::slow_clients::{are_closed, closed, sent};

const LARGE: usize = 64 << 20;

/// Returns the length of the body, or many bytes at `/large`.
async fn respond(request: Request) -> Response {
    if request.uri().path() == "/large" {
        return vec![b'x'; LARGE].into_response();
    }
    match axum::body::to_bytes(request.into_body(), 1 << 20).await {
        Ok(bytes) => bytes.len().to_string().into_response(),
        Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}

async fn started(timeout: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = axum::Router::new().fallback(respond);
    let until = std::future::pending();
    tokio::spawn(langgraph_http::serve(listener, router, timeout, until));
    address
}

const WHOLE: &str = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_silent_clients_are_closed_and_others_served() {
    are_closed(started(Duration::from_secs(1)).await, "/").await;
}

#[tokio::test]
async fn half_a_body_is_an_error_of_the_body() {
    let address = started(Duration::from_millis(300)).await;
    let half = WHOLE.replace("length: 4", "length: 9");
    let text = closed(sent(address, &half).await).await;
    assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    // A whole one is answered, and then its connection is silent.
    let text = closed(sent(address, WHOLE).await).await;
    assert!(text.ends_with("\r\n\r\n4"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_nothing_loses_its_response() {
    let address = started(Duration::from_millis(300)).await;
    let stream = sent(address, "GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let bytes = closed(stream).await.len();
    assert!(bytes < LARGE, "the server has waited");
}

#[tokio::test]
async fn a_server_that_stops_sends_the_response_in_flight() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let slow = async || {
        tokio::time::sleep(Duration::from_millis(500)).await;
        "whole"
    };
    let router = axum::Router::new().fallback(slow);
    let until = async { drop(stopped.await) };
    let timeout = Duration::from_secs(60);
    let served = tokio::spawn(langgraph_http::serve(listener, router, timeout, until));
    let client = sent(address, WHOLE).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.send(()).unwrap();
    assert!(closed(client).await.ends_with("\r\n\r\nwhole"));
    served.await.unwrap();
    TcpStream::connect(address).await.unwrap_err();
}
