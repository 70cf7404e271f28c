//! Caches of nodes and of tools, which a replay neither reads nor fills.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::policy::CachePolicy;
use langgraph::prelude::*;
use langgraph_agent::{
    FnTool, MessagesState, MessagesStateUpdate, ScriptedModel, ToolCaching, Turn, react_agent,
};
use langgraph_testing::replay;
use serde_json::json;

use super::{Order, OrderUpdate, note};

const HOUR: Duration = Duration::from_secs(3600);

/// An agent that asks for the rate of the day, which is another one each time.
fn desk(rate: &Arc<AtomicI64>) -> CompiledStateGraph<MessagesState> {
    let asks = || Turn::tool_calls([ToolCall::new("c", "rate", json!({}))]);
    let turns = [asks(), Turn::text("."), asks(), Turn::text(".")];
    let rate = Arc::clone(rate);
    let rate = FnTool::new("rate", "The rate of the day.", move || {
        let rate = Arc::clone(&rate);
        async move { rate.fetch_add(1, Ordering::Relaxed) }
    });
    let agent = react_agent(ScriptedModel::new(turns), (rate,));
    agent
        .with(ToolCaching::new(["rate"], HOUR))
        .compile()
        .unwrap()
}

#[tokio::test]
async fn each_thread_gets_its_own_answer_of_a_tool_that_is_cached() {
    let (saver, rate) = (Arc::new(MemorySaver::new()), Arc::default());
    // Each in a program of its own.
    for day in ["monday", "tuesday"] {
        let stored = desk(&rate).checkpointer(saver.clone());
        let run = stored.thread(day).run(MessagesStateUpdate::user("?"));
        run.await.unwrap();
    }
    let today = desk(&rate);
    let report = replay(saver, &today).await.unwrap();
    assert!(report.is_same(), "{report}");
    // The next run gets no answer of a replay.
    let state = today.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[2].text(), "2");
}

#[tokio::test]
async fn a_node_with_a_cache_runs_in_each_replay() {
    let ran = Arc::new(AtomicI64::new(0));
    let counts = Arc::clone(&ran);
    let mut graph = StateGraph::<Order>::new();
    let says = move |_: &Order| {
        counts.fetch_add(1, Ordering::Relaxed);
        note("moss")
    };
    let node = says.cache(CachePolicy::input());
    graph.add_node("says", node).add_sequence(&["says"]);
    let graph = graph.compile().unwrap();
    let saver = Arc::new(MemorySaver::new());
    let stored = graph.clone().checkpointer(saver.clone());
    let run = stored.thread("t").run(OrderUpdate::default());
    run.await.unwrap();
    for n in 2..4 {
        let report = replay(saver.clone(), &graph).await.unwrap();
        assert!(report.is_same(), "{report}");
        assert_eq!(ran.load(Ordering::Relaxed), n);
    }
    // A replay leaves nothing there either.
    graph.clear_cache().await;
    replay(saver, &graph).await.unwrap();
    graph.invoke(OrderUpdate::default()).await.unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 5);
}
