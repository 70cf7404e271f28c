//! Two graphs on one saver: each maintains its own threads.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{MemorySaver, RunStatus, ThreadFilter};
use langgraph::error::{CheckpointError, ErrorKind};
use langgraph::prelude::*;
use langgraph::thread::{Keep, Threads};
use langgraph_tests::ByteSaver;
use langgraph_wait::WaitExt as _;

fn bank() -> CompiledStateGraph<i64> {
    let ask = |_: &i64, cx: &Context| Ok::<i64, NodeError>(cx.interrupt("how much", "?")?);
    let mut graph = StateGraph::<i64>::new();
    graph
        .set_name("bank")
        .add_node("ask", ask)
        .add_sequence(&["ask"]);
    graph.compile().unwrap()
}

fn chat() -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph.set_name("chat").add_node("reply", |n: &i64| n + 1);
    graph.add_sequence(&["reply"]);
    graph.compile().unwrap()
}

async fn names(threads: Threads<i64>, filter: ThreadFilter) -> Vec<String> {
    let found = threads.list(filter).await.unwrap();
    found.into_iter().map(|info| info.thread).collect()
}

#[tokio::test]
async fn a_graph_maintains_its_own_threads_unless_asked() {
    let saver = Arc::new(ByteSaver::default());
    let (bank, chat) = (
        bank().checkpointer(saver.clone()),
        chat().checkpointer(saver),
    );
    bank.thread("transfer").run(1).await.unwrap();
    chat.thread("hello").run(1).await.unwrap();

    let all = ThreadFilter::new;
    assert_eq!(names(chat.threads(), all()).await, ["hello"]);
    assert_eq!(names(bank.threads(), all()).await, ["transfer"]);
    let named = all().graph("bank");
    assert_eq!(names(chat.threads(), named).await, ["transfer"]);
    let both = chat.threads().of_all_graphs();
    assert_eq!(names(both.clone(), all()).await, ["hello", "transfer"]);

    let foreign = chat.thread("transfer");
    for error in [
        foreign.copy("stolen").await.unwrap_err(),
        foreign.delete().await.unwrap_err(),
        foreign.prune(Keep::Newest(1)).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let text = error.to_string();
        assert!(text.contains("thread `transfer`"), "{text}");
        assert!(
            text.contains("graph `bank`") && text.contains("of_all_graphs()"),
            "{text}"
        );
        assert!(matches!(
            error,
            AgentError::Checkpoint(CheckpointError::OtherGraph { .. })
        ));
    }
    let deleted = chat.threads().delete_idle(Duration::ZERO).await.unwrap();
    assert_eq!(deleted.threads, 1);
    assert_eq!(names(both.clone(), all()).await, ["transfer"]);
    both.thread("transfer").copy("copy").await.unwrap();
    both.thread("copy").delete().await.unwrap();
    // What the other graph waits for can still be answered.
    assert!(bank.thread("transfer").answer(5).await.unwrap().is_done());
    let deleted = both.delete_idle(Duration::ZERO).await.unwrap();
    assert_eq!(deleted.threads, 1);
}

#[tokio::test]
async fn a_thread_that_waits_is_not_idle() {
    let sleep = |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        cx.sleep_until(std::time::SystemTime::now() + Duration::from_secs(3600))?;
        Ok(n + 1)
    };
    let mut sleeper = StateGraph::<i64>::new();
    sleeper
        .set_name("bank")
        .add_node("sleep", sleep)
        .add_sequence(&["sleep"]);
    let saver = Arc::new(MemorySaver::new());
    let sleeper = sleeper.compile().unwrap().checkpointer(saver.clone());
    let bank = bank().checkpointer(saver);
    sleeper.thread("sleeps").run(1).await.unwrap();
    bank.thread("asks").run(1).await.unwrap();
    for thread in 0..2_500 {
        bank.thread(format!("done {thread:04}"))
            .add_input(1)
            .create()
            .await
            .unwrap();
    }
    // More than a page of them.
    let deleted = bank.threads().delete_idle(Duration::ZERO).await.unwrap();
    assert_eq!(deleted.threads, 2_500);
    let left = names(bank.threads(), ThreadFilter::new()).await;
    assert_eq!(left, ["asks", "sleeps"]);
    let deletion = bank.threads().delete_idle(Duration::ZERO);
    let deletion = deletion.including(RunStatus::Interrupted);
    assert_eq!(deletion.await.unwrap().threads, 2);
}
