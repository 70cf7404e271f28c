//! The relay and its clients over TLS, with a certificate made here.

#![cfg(feature = "rustls")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::time::Duration;

use langgraph::prelude::*;
use langgraph_relay::{Relay, RelayClient, RelayError, RelayOptions, TlsListener};
use langgraph_remote::{RemoteNode, serve};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn agents_talk_over_tls_and_refuse_a_relay_that_they_do_not_trust() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = made.cert.pem();
    let key = made.signing_key.serialize_pem();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("wss://localhost:{}/ws", address.port());
    let listener = TlsListener::new(listener, certificate.as_bytes(), key.as_bytes()).unwrap();
    let options = RelayOptions::default().patience(Duration::from_secs(2));
    tokio::spawn(async move { Relay::new(options).serve(listener).await });

    // A client in the middle of its handshake delays no other.
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(&[22, 3, 1]).await.unwrap();

    let mut graph = StateGraph::<String>::new();
    graph.add_node("shout", |text: &String| text.to_uppercase());
    graph.add_sequence(&["shout"]);
    let shouter = serve(graph.compile().unwrap(), |text: String| text, |state| state);
    let trusting = |id: &str| RelayClient::builder(&url, id).root_certificates(certificate.clone());
    let _serving = trusting("shouter")
        .handler(shouter)
        .connect()
        .await
        .unwrap();
    let relay = trusting("assistant").connect().await.unwrap();
    let ask = RemoteNode::new("shouter", relay)
        .bind(|text: &String| Some(text.clone()), |reply: String| reply);
    let mut graph = StateGraph::<String>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    let reply = graph.compile().unwrap().invoke("hi".to_owned()).await;
    assert_eq!(reply.unwrap(), "HI");

    let limit = Duration::from_millis(800);
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let distrustful = RelayClient::builder(&url, "distrustful").root_certificates(other.cert.pem());
    match distrustful.connect_within(limit).connect().await {
        Err(RelayError::Unreachable(why)) => assert!(why.contains("certificate"), "{why}"),
        other => panic!("expected no connection, found {other:?}"),
    }
    let plain = format!("ws://localhost:{}/ws", address.port());
    let plain = RelayClient::builder(plain, "plain").connect_within(limit);
    plain.connect().await.unwrap_err();
}
