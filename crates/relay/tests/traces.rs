//! One trace spans both processes: the agent answers in a process of its own, over each transport.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use langgraph::prelude::*;
use langgraph_a2a::{A2aClient, A2aServer};
use langgraph_relay::{Relay, RelayClient, RelayOptions};
use langgraph_remote::{RemoteNode, Transport, serve};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tokio::net::TcpListener;
use tracing_subscriber::prelude::*;

/// Records the spans of this process.
fn record() -> InMemorySpanExporter {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    tracing_subscriber::registry().with(layer).init();
    assert!(langgraph_remote::otel::propagate());
    exporter
}

fn print(spans: &InMemorySpanExporter) {
    for span in spans.get_finished_spans().unwrap() {
        let (context, parent) = (&span.span_context, span.parent_span_id);
        let (trace, id) = (context.trace_id(), context.span_id());
        let name = span.name.replace(' ', "_");
        println!("span {name} {trace} {id} {parent}");
    }
    println!("that is all");
}

/// The other process: it serves the agent over both transports, and prints its spans when the test
/// closes its input.
async fn agent(relay: &str) {
    let spans = record();
    let mut graph = StateGraph::<String>::new();
    graph.add_node("shout", |text: &String| text.to_uppercase());
    graph.add_sequence(&["shout"]);
    let shouter = serve(graph.compile().unwrap(), |text: String| text, |state| state);
    let client = RelayClient::builder(relay, "shouter").handler(shouter.clone());
    let _client = client.connect().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(A2aServer::new("shouter", shouter).serve(listener));
    let closed = tokio::task::spawn_blocking(|| std::io::stdin().lines().next());
    closed.await.unwrap();
    print(&spans);
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

fn id(span: &SpanData) -> String {
    span.span_context.span_id().to_string()
}

#[tokio::test]
async fn the_run_of_an_agent_is_a_child_of_the_node_that_asked() {
    if let Ok(relay) = std::env::var("OTEL_TEST_RELAY") {
        return agent(&relay).await;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let relay = format!("ws://{}/ws", listener.local_addr().unwrap());
    tokio::spawn(async move { Relay::new(RelayOptions::default()).serve(listener).await });

    let mut other = Command::new(std::env::current_exe().unwrap());
    other.args(["--nocapture", "--exact"]);
    other.arg("the_run_of_an_agent_is_a_child_of_the_node_that_asked");
    other.env("OTEL_TEST_RELAY", &relay);
    other.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut other = Killed(other.spawn().unwrap());
    let mut lines = BufReader::new(other.0.stdout.take().unwrap()).lines();
    let (url, mut lines) = tokio::task::spawn_blocking(move || {
        let url = lines.find_map(|line| {
            let line = line.unwrap();
            Some(line[line.find("http://")?..].to_owned())
        });
        (url.unwrap(), lines)
    })
    .await
    .unwrap();

    let spans = record();
    let by_relay = RelayClient::builder(&relay, "assistant")
        .connect()
        .await
        .unwrap();
    let transports: [Arc<dyn Transport>; 2] = [
        Arc::new(by_relay),
        Arc::new(A2aClient::new().agent("shouter", url)),
    ];
    for transport in transports {
        let ask = RemoteNode::new("shouter", transport)
            .bind(|text: &String| Some(text.clone()), |reply: String| reply);
        let mut graph = StateGraph::<String>::new();
        graph
            .add_node("ask_shouter", ask)
            .add_sequence(&["ask_shouter"]);
        let reply = graph.compile().unwrap().invoke("hi".to_owned()).await;
        assert_eq!(reply.unwrap(), "HI");
    }

    // The other process prints, as its input is closed. Read its spans.
    drop(other.0.stdin.take());
    let elsewhere: Vec<Vec<String>> = tokio::task::spawn_blocking(move || {
        let mut seen = Vec::new();
        for line in lines.by_ref() {
            let words: Vec<String> = line.unwrap().split(' ').map(str::to_owned).collect();
            match words.first().map(String::as_str) {
                Some("span") => seen.push(words),
                Some("that") => break,
                _ => {}
            }
        }
        seen
    })
    .await
    .unwrap();

    let here = spans.get_finished_spans().unwrap();
    let asks: Vec<&SpanData> = here.iter().filter(|span| span.name == "ask").collect();
    assert_eq!(asks.len(), 2);
    for ask in asks {
        let trace = ask.span_context.trace_id().to_string();
        let named = |name: &str| {
            let mut found = elsewhere
                .iter()
                .filter(|span| span[1] == name && span[2] == trace);
            found
                .next()
                .unwrap_or_else(|| panic!("no `{name}` of trace {trace}: {elsewhere:?}"))
        };
        let served = named("serve");
        assert_eq!(served[4], id(ask));
        assert_eq!(named("invoke_agent_LangGraph")[4], served[3]);
        // The asking node is inside a run of its own process, in the same trace.
        let run = here.iter().find(|span| {
            span.name == "invoke_agent LangGraph"
                && span.span_context.trace_id() == ask.span_context.trace_id()
        });
        assert!(run.is_some());
    }
}
