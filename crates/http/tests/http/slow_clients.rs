//! Clients that every listener has to close: silent, endless, stalled, and taking nothing.

#![allow(clippy::unwrap_used, clippy::expect_used)] // as in all tests

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long the test waits for the server to close a connection: long, as other tests run beside it.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) async fn sent(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

/// Returns what the server sends until it closes the connection.
pub(crate) async fn closed(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    // A reset is an end, too.
    let _ = tokio::time::timeout(PATIENCE, read)
        .await
        .expect("the connection stays open");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits until the server no longer takes this text, again and again.
async fn refused(mut stream: TcpStream, text: &str, pause: Duration) {
    let refused = async {
        while stream.write_all(text.as_bytes()).await.is_ok() {
            tokio::time::sleep(pause).await;
        }
    };
    tokio::time::timeout(PATIENCE, refused)
        .await
        .expect("the connection stays open");
}

/// Fails unless the server, which waits for a client for about a second, closes the connection of each
/// such client and answers `GET path` meanwhile.
pub(crate) async fn are_closed(address: SocketAddr, path: &str) {
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n");
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(sent(address, "").await);
    }
    let served =
        async { closed(sent(address, &format!("{head}connection: close\r\n\r\n")).await).await };
    let text = tokio::time::timeout(Duration::from_millis(800), served);
    let text = text.await.expect("silent clients block others");
    assert!(text.starts_with("HTTP/1.1 "), "{text}");
    for stream in silent {
        assert_eq!(closed(stream).await, "");
    }

    let endless = sent(address, &head).await;
    refused(endless, "x-more: yes\r\n", Duration::from_millis(100)).await;

    let stalled = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: 100\r\n\r\n{{\"half"
    );
    closed(sent(address, &stalled).await).await;

    // It asks, and asks, and reads no response.
    let deaf = sent(address, "").await;
    refused(deaf, &format!("{head}\r\n").repeat(1_000), Duration::ZERO).await;
}
