//! A stream of events in other hands: combinators, JSON.

use futures_util::{StreamExt, TryStreamExt};
use langgraph::prelude::*;
use langgraph::stream::{StreamModes, StreamOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Page {
    title: String,
    #[reducer(append)]
    lines: Vec<String>,
}

fn write(_: &Page, cx: &Context) -> PageUpdate {
    PageUpdate::default().lines(vec![format!("{}\nand so on", cx.node())])
}

fn graph() -> CompiledStateGraph<Page> {
    let inner = graph! { START => write => END };
    let inner = inner.compile().unwrap();
    let graph = graph! { START => write => inner => END };
    graph.compile().unwrap()
}

#[tokio::test]
async fn an_event_stream_is_a_stream() {
    let events = graph().run(()).stream(StreamMode::Updates);
    let nodes = events.map_ok(|event| event.node().map(str::to_owned));
    let nodes: Vec<_> = nodes.try_collect().await.unwrap();
    assert_eq!(nodes, [Some("write".to_owned()), Some("inner".to_owned())]);
}

#[tokio::test]
async fn combinators_may_stop_it_half_way() {
    let events = graph().run(()).stream(StreamMode::Values);
    let first: Vec<_> = events
        .take(1)
        .map(|event| event.unwrap().seq)
        .collect()
        .await;
    assert_eq!(first, [0]);
}

#[tokio::test]
async fn every_event_is_json() {
    let saver = std::sync::Arc::new(langgraph::checkpoint::MemorySaver::new());
    let graph = graph().checkpointer(saver);
    let options = StreamOptions::new(StreamModes::ALL).subgraphs();
    let input = PageUpdate::default().title("T".to_owned());
    let events = graph.run(input).thread("t").stream(options);
    let events: Vec<Value> = events
        .map_ok(|event| {
            let value = serde_json::to_value(&event).unwrap();
            assert_eq!(value["type"], event.kind.name());
            value
        })
        .try_collect()
        .await
        .unwrap();
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], index);
        let mut keys: Vec<_> = event.as_object().unwrap().keys().collect();
        keys.retain(|key| *key != "task");
        keys.sort_unstable();
        assert_eq!(keys, ["data", "namespace", "seq", "step", "type"]);
        let of_task = ["update", "task_started", "task_finished"];
        let of_task = of_task.iter().any(|kind| event["type"] == *kind);
        assert_eq!(event["task"]["id"].is_string(), of_task, "{event}");
    }
    let first = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(first("values")["data"], json!({"title": "T", "lines": []}));
    assert_eq!(
        first("update")["data"],
        json!({"node": "write", "update": [{"update": {"lines": ["write\nand so on"]}}], "cached": false})
    );
    assert_eq!(
        first("task_started")["data"],
        json!({"node": "write", "input": {"title": "T", "lines": []}, "item": null})
    );
    let checkpoint = &first("checkpoint")["data"];
    assert_eq!(checkpoint["step"], -1);
    assert_eq!(checkpoint["source"], "input");
    assert!(checkpoint["created_at"].is_u64());
    let inside = |event: &&Value| event["namespace"] == json!(["inner"]);
    let updates = |event: &&Value| event["type"] == "update";
    let inner = events.iter().filter(inside).find(updates).unwrap();
    assert_eq!(inner["step"], 1);
}

#[tokio::test]
async fn an_event_of_another_state_says_what_it_is() {
    let mut inner = StateGraph::<i64>::new();
    inner
        .add_node("double", |n: &i64| n * 2)
        .add_sequence(&["double"]);
    let node = inner.compile().unwrap().mapped(|_: &Page| 1_i64, |_| ());
    let mut outer = StateGraph::<Page>::new();
    outer.add_node("inner", node).add_sequence(&["inner"]);
    let options = StreamOptions::new(StreamMode::Updates).subgraphs();
    let mut events = outer.compile().unwrap().run(()).stream(options);
    let event = events.next().await.unwrap().unwrap();
    let mut event = serde_json::to_value(&event).unwrap();
    assert!(event["task"]["id"].take().is_string());
    assert_eq!(
        event,
        json!({
            "seq": 0,
            "step": 1,
            "namespace": ["inner"],
            "task": {"id": null, "node": "double", "index": 0},
            "type": "inner",
            "data": {"type": "update", "node": "double"},
        })
    );
}
