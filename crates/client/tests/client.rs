//! The client and remote graphs, against the server of this project.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph_client::{Client, ClientError, NewRun, RemoteGraph};
use langgraph_remote::RemoteNode;
use langgraph_server::{BearerTokens, Server, User};
use langgraph_wait::WaitExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[allow(clippy::trivially_copy_pass_by_ref)] // the form of a node
fn approve(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    let sure: bool = cx.interrupt("sure", &json!({"n": n}))?;
    if *n < 0 {
        return Err(NodeError::msg("it is negative"));
    }
    Ok(if sure { n * 2 } else { 0 })
}

async fn client() -> Client {
    let mut double = StateGraph::<i64>::new();
    double
        .add_node("double", |n: &i64| n * 2)
        .add_sequence(&["double"]);
    let mut asks = StateGraph::<i64>::new();
    asks.add_node("approve", approve).add_sequence(&["approve"]);
    let mut stops = StateGraph::<i64>::new();
    stops
        .add_node("first", |n: &i64| n + 1)
        .add_node("second", |n: &i64| n * 10)
        .add_sequence(&["first", "second"])
        .interrupt_before(["second"]);
    let mut naps = StateGraph::<i64>::new();
    naps.add_node("nap", nap).add_sequence(&["nap"]);
    let server = Server::new()
        .show_node_errors()
        .graph("naps", naps.compile().unwrap())
        .authenticate(BearerTokens::new().token("key", User::new("ada")))
        .graph("double", double.compile().unwrap())
        .graph("asks", asks.compile().unwrap())
        .graph("stops", stops.compile().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(server.serve_on(listener));
    Client::new(&url).unwrap().api_key("key")
}

#[tokio::test]
async fn a_client_drives_the_server() {
    let client = client().await;
    let thread = client
        .create_thread(json!({"metadata": {"a": 1}}))
        .await
        .unwrap();
    let thread = thread["thread_id"].as_str().unwrap();
    let run = NewRun::new("double").input(21).resumable();
    let mut events = client.stream(Some(thread), &run).await.unwrap();
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        seen.push((event.event, event.data));
    }
    assert_eq!(seen[0].0, "metadata");
    assert_eq!(seen.last().unwrap(), &("values".to_owned(), json!(42)));
    let id = events.run_id().unwrap().to_owned();
    let mut again = client.join_stream(thread, &id, Some("-1")).await.unwrap();
    let mut count = 0;
    while let Some(event) = again.next().await {
        event.unwrap();
        count += 1;
    }
    assert_eq!(count, seen.len());
    assert_eq!(client.run(thread, &id).await.unwrap()["status"], "success");
    assert_eq!(client.state(thread).await.unwrap()["values"], 42);
    assert_eq!(
        client
            .wait(None, &NewRun::new("double").input(1))
            .await
            .unwrap(),
        2
    );
    let found = client
        .search_threads(json!({"metadata": {"a": 1}}))
        .await
        .unwrap();
    assert_eq!(found[0]["thread_id"], thread);
    let item = json!({"namespace": ["a.b"], "key": "k", "value": {"n": 1}});
    client.put_item(item).await.unwrap();
    assert_eq!(
        client.item(&["a.b"], "k").await.unwrap()["value"],
        json!({"n": 1})
    );
    client.delete_thread(thread).await.unwrap();
    let gone = client.thread(thread).await.unwrap_err();
    assert!(
        matches!(gone, ClientError::Refused { status: 404, .. }),
        "{gone}"
    );
    let unauthorized = client.clone().api_key("other");
    let refused = unauthorized.thread(thread).await.unwrap_err();
    assert!(matches!(refused, ClientError::Refused { status: 401, .. }));
    assert!(!format!("{client:?}").contains("key\""));
}

#[tokio::test]
async fn a_remote_graph_is_a_node_that_passes_interrupts_on() {
    let server = RemoteGraph::new(client().await);
    let node = |agent: &str| {
        RemoteNode::new(agent.to_owned(), server.clone()).bind(
            |n: &i64| Some(json!(n)),
            |values: Value| values.as_i64().unwrap_or_default(),
        )
    };
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("double", node("double"))
        .add_node("asks", node("asks"))
        .add_sequence(&["double", "asks"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let paused = graph.run(1).thread("t").await.unwrap();
    assert_eq!(paused.interrupts()[0].payload, json!({"n": 2}));
    let done = graph.thread("t").answer(true).await.unwrap();
    assert_eq!(done.finished().unwrap(), 4);

    graph.run(-1).thread("u").await.unwrap();
    let failed = graph.thread("u").answer(true).await.unwrap_err();
    assert!(failed.to_string().contains("it is negative"), "{failed}");
}

/// Sleeps, and then asks if the number is odd.
#[allow(clippy::trivially_copy_pass_by_ref)] // the form of a node
fn nap(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    cx.sleep_until(SystemTime::now() + Duration::from_millis(300))?;
    if n % 2 == 1 {
        return Ok(cx.interrupt("which", "Which?")?);
    }
    Ok(n * 3)
}

#[tokio::test]
async fn a_remote_graph_that_has_gone_on_by_itself_has_replied() {
    let server = RemoteGraph::new(client().await);
    let node = RemoteNode::new("naps", server).bind(
        |n: &i64| Some(json!(n)),
        |values: Value| values.as_i64().unwrap_or_default(),
    );
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("naps", node).add_sequence(&["naps"]);
    let saver = Arc::new(MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);
    for n in [2, 3] {
        let thread = graph.thread(format!("t{n}"));
        let asleep = thread.run(n).await.unwrap();
        assert!(asleep.interrupts()[0].payload["$wait"].is_object());
        // The server wakes its thread meanwhile.
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        let mut outcome = thread.answer("time").await.unwrap();
        if n == 3 {
            assert_eq!(outcome.interrupts()[0].payload, json!("Which?"));
            outcome = thread.answer(9).await.unwrap();
        }
        assert_eq!(outcome.finished().unwrap(), if n == 3 { 9 } else { 6 });
    }
}

#[tokio::test]
async fn a_remote_graph_whose_interrupt_was_closed_by_a_change_of_the_state_has_not_replied() {
    let client = client().await;
    let node = RemoteNode::new("asks", RemoteGraph::new(client.clone())).conversing();
    let node = node.bind(
        |n: &i64| Some(json!(n)),
        |values: Value| values.as_i64().unwrap_or_default(),
    );
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("asks", node).add_sequence(&["asks"]);
    let saver = Arc::new(MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);
    graph.run(1).thread("t").await.unwrap();
    let threads = client.search_threads(json!({})).await.unwrap();
    let remote = threads[0]["thread_id"].as_str().unwrap();
    let end = json!({"values": null, "as_node": "__end__"});
    client.update_state(remote, end).await.unwrap();
    let row = client.thread(remote).await.unwrap();
    assert_eq!(row["status"], "idle", "{row}");
    let failed = graph.thread("t").answer(true).await.unwrap_err();
    assert!(failed.to_string().contains("waits for"), "{failed}");
    // The conversation goes on with the next input.
    let asks = graph.run(2).thread("t").await.unwrap();
    assert_eq!(asks.interrupts()[0].payload, json!({"n": 2}));
    let done = graph.thread("t").answer(true).await.unwrap();
    assert_eq!(done.finished().unwrap(), 4);
}

#[tokio::test]
async fn a_remote_run_that_pauses_before_a_node_is_no_reply() {
    let server = RemoteGraph::new(client().await);
    let node = RemoteNode::new("stops", server).bind(
        |n: &i64| Some(json!(n)),
        |values: Value| values.as_i64().unwrap_or_default(),
    );
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("remote", node).add_sequence(&["remote"]);
    let failed = graph.compile().unwrap().invoke(1).await.unwrap_err();
    assert!(failed.to_string().contains("`second`"), "{failed}");
}
