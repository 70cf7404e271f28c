//! Entrypoints and their tasks, on threads.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, Final, entrypoint, task};

static WRITTEN: AtomicUsize = AtomicUsize::new(0);

#[task]
async fn write_essay(topic: String) -> Result<String, NodeError> {
    WRITTEN.fetch_add(1, Ordering::Relaxed);
    Ok(format!("On {topic}."))
}

#[entrypoint]
async fn publish(topic: String, cx: &Context) -> Result<String, NodeError> {
    let essay = write_essay(topic).on(cx).await?;
    let approved: bool = cx.interrupt("publish?", &essay)?;
    Ok(if approved { essay } else { String::new() })
}

#[tokio::test]
async fn a_task_that_has_ended_does_not_run_again() {
    let graph = publish
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let paused = thread.run(publish("moss".to_owned())).await.unwrap();
    assert_eq!(paused.interrupts()[0].payload, "On moss.");
    let state = thread
        .resume("publish?", true)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.output.as_deref(), Some("On moss."));
    assert_eq!(WRITTEN.load(Ordering::Relaxed), 1);
}

#[task]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[entrypoint]
async fn sums(cx: &Context) -> Result<Vec<i64>, NodeError> {
    let (first, second) = tokio::try_join!(add(1, 2).on(cx), add(3, 4).on(cx))?;
    let third = add(first, second).on(cx).await?;
    Ok(vec![first, second, third])
}

#[tokio::test]
async fn tasks_run_side_by_side() {
    let graph = sums.compile().unwrap();
    let state = graph.invoke(sums()).await.unwrap();
    assert_eq!(state.output, Some(vec![3, 7, 10]));
}

#[entrypoint]
async fn count(step: i64, cx: &Context, previous: Option<&i64>) -> Final<String, i64> {
    let total = previous.copied().unwrap_or_default() + step;
    Final::new(format!("{} has counted to {total}", cx.node())).save(total)
}

#[tokio::test]
async fn a_run_gets_what_the_run_before_has_saved() {
    let graph = count
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    for (step, said) in [(1, "count has counted to 1"), (4, "count has counted to 5")] {
        let outcome = graph.thread("t").run(count(step)).await.unwrap();
        assert_eq!(outcome.finished().unwrap().output.as_deref(), Some(said));
    }
}

static CHANGED: AtomicUsize = AtomicUsize::new(0);

#[entrypoint]
async fn fickle(cx: &Context) -> Result<i64, NodeError> {
    let changed = CHANGED.fetch_add(1, Ordering::Relaxed) as i64;
    let sum = add(1, changed).on(cx).await?;
    let more: i64 = cx.interrupt("more?", &sum)?;
    Ok(sum + more)
}

#[tokio::test]
async fn a_function_that_changes_its_course_is_caught() {
    let graph = fickle
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(fickle()).await.unwrap();
    let error = thread.resume("more?", 1).await.unwrap_err().to_string();
    assert!(error.contains("`add` with [1,0] before"), "{error}");
    assert!(error.contains("with [1,1] now"), "{error}");
}

#[task]
async fn ask(what: String, cx: &Context) -> Result<i64, NodeError> {
    Ok(cx.interrupt("number", &what)?)
}

#[entrypoint]
async fn survey(cx: &Context) -> Result<i64, NodeError> {
    let (first, second) = tokio::join!(
        ask("first".to_owned()).on(cx),
        ask("second".to_owned()).on(cx)
    );
    Ok(first? * second?)
}

#[tokio::test]
async fn tasks_ask_at_the_same_time() {
    let graph = survey
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let paused = thread.run(survey()).await.unwrap();
    assert_eq!(paused.interrupts().len(), 2);
    let first = paused.interrupts()[0].id.clone();
    let second = paused.interrupts()[1].id.clone();
    thread.resume(&first, 6).await.unwrap();
    let state = thread.resume(&second, 7).await.unwrap().finished().unwrap();
    assert_eq!(state.output, Some(42));
}
