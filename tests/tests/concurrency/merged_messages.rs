//! Messages that later calls give to the active run of their thread.

use std::sync::Arc;
use std::time::Duration;

use langgraph::prelude::*;
use langgraph::thread::OnConflict;
use langgraph_agent::{MessagesState, MessagesStateUpdate};

use crate::queued_inputs::Gate;
use langgraph_tests::fixtures::diary::memory;

/// A conversation whose tool waits for the test.
#[tokio::test]
async fn a_message_joins_when_every_tool_call_has_its_result() {
    let gate = Arc::new(Gate::default());
    let mut graph = StateGraph::<MessagesState>::new();
    graph.resource(Arc::clone(&gate));
    graph.add_node("call", |_: &MessagesState| {
        let call = langgraph::message::ToolCall::new("1", "search", serde_json::json!({}));
        MessagesStateUpdate::default()
            .messages(vec![Message::assistant_with_tool_calls("", [call])])
    });
    graph.add_node("tool", async |_: &MessagesState, cx: &Context| {
        let gate = cx.resource::<Gate>()?;
        gate.reached.notify_one();
        gate.open.notified().await;
        Ok::<_, NodeError>(
            MessagesStateUpdate::default().messages(vec![Message::tool("1", "found")]),
        )
    });
    graph.add_node("slow", async |_: &MessagesState, cx: &Context| {
        let gate = cx.resource::<Gate>()?;
        gate.reached.notify_one();
        gate.open.notified().await;
        Ok::<_, NodeError>(())
    });
    graph.add_node("reply", |_: &MessagesState| {
        MessagesStateUpdate::default().messages(vec![Message::assistant("done")])
    });
    graph.add_sequence(&["call", "slow", "tool", "reply"]);
    let graph = graph.compile().unwrap().checkpointer(memory());
    let graph = graph.on_conflict(OnConflict::Join);
    let say = |text: &str| MessagesStateUpdate::default().messages(vec![Message::user(text)]);
    let first = tokio::spawn(graph.run(say("question")).thread("t").into_future());
    gate.reached.notified().await;
    let second = tokio::spawn(graph.run(say("and this")).thread("t").into_future());
    tokio::time::sleep(Duration::from_millis(20)).await;
    for _ in 0..2 {
        gate.open.notify_one();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for run in [first, second] {
        let chat = run.await.unwrap().unwrap().finished().unwrap();
        let texts: Vec<_> = chat.messages.iter().map(Message::text).collect();
        assert_eq!(texts, ["question", "", "found", "and this", "done"]);
    }
}
