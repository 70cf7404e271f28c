//! What an entrypoint calls, and how: graphs, tasks that are spawned, tasks in any order, waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::stream::{FuturesUnordered, StreamExt as _, TryStreamExt as _, iter};
use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::run::Persistence;
use langgraph_functional::{EntrypointExt, entrypoint, task};
use langgraph_wait::{WaitExt, WakeExt, wake_due};
use tokio::sync::Notify;

/// How often tasks and nodes have run.
#[derive(Debug, Default)]
struct Runs(AtomicUsize);

fn count(cx: &Context) -> Result<(), NodeError> {
    cx.resource::<Runs>()?.0.fetch_add(1, Ordering::SeqCst);
    Ok(())
}

fn stored<S: State>(graph: CompiledStateGraph<S>, runs: &Arc<Runs>) -> Thread<S> {
    let graph = graph.resource(Arc::clone(runs));
    graph.checkpointer(Arc::new(MemorySaver::new())).thread("t")
}

#[task]
async fn square(number: u64, cx: &Context) -> Result<u64, NodeError> {
    count(cx)?;
    // What is called last ends first.
    for _ in number..5 {
        tokio::task::yield_now().await;
    }
    Ok(number * number)
}

#[entrypoint]
async fn unordered(cx: &Context) -> Result<u64, NodeError> {
    let mut calls: FuturesUnordered<_> = (1..4).map(|number| square(number).on(cx)).collect();
    let mut sum = 0;
    while let Some(number) = calls.next().await {
        sum += number?;
    }
    let calls = iter((4..7).map(|number| square(number).on(cx)));
    let more: Vec<u64> = calls.buffer_unordered(2).try_collect().await?;
    let bonus: u64 = cx.interrupt("bonus", &sum)?;
    Ok(sum + more.iter().sum::<u64>() + bonus)
}

#[tokio::test]
async fn calls_that_end_in_any_order_are_recorded_once() {
    let runs = Arc::new(Runs::default());
    let thread = stored(unordered.compile().unwrap(), &runs);
    let paused = thread.run(unordered()).await.unwrap();
    assert_eq!(paused.interrupts()[0].payload, 14);
    let done = thread.resume("bonus", 9).await.unwrap();
    assert_eq!(done.finished().unwrap().output, Some(100));
    assert_eq!(runs.0.load(Ordering::SeqCst), 6);
}

#[entrypoint]
async fn spawning(cx: &Context) -> Result<u64, NodeError> {
    let spawned = [2, 3].map(|number| {
        let cx = cx.clone();
        tokio::spawn(async move { square(number).key(number.to_string()).on(&cx).await })
    });
    let mut sum = 0;
    for call in spawned {
        sum += call.await??;
    }
    let bonus: u64 = cx.interrupt("bonus", &sum)?;
    Ok(sum + bonus)
}

#[tokio::test]
async fn spawned_calls_with_keys_are_recorded_once() {
    let runs = Arc::new(Runs::default());
    let thread = stored(spawning.compile().unwrap(), &runs);
    thread.run(spawning()).await.unwrap();
    let done = thread.resume("bonus", 1).await.unwrap();
    assert_eq!(done.finished().unwrap().output, Some(14));
    assert_eq!(runs.0.load(Ordering::SeqCst), 2);
}

/// Says that a task began, and that its future was dropped.
#[derive(Debug, Default)]
struct Dropped {
    began: Notify,
    drops: AtomicUsize,
}

struct OnDrop(Arc<Dropped>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.drops.fetch_add(1, Ordering::SeqCst);
    }
}

#[task]
async fn never(cx: &Context) -> Result<(), NodeError> {
    let dropped = cx.resource_arc::<Dropped>()?;
    let _guard = OnDrop(Arc::clone(&dropped));
    dropped.began.notify_one();
    std::future::pending().await
}

#[entrypoint]
async fn impatient(cx: &Context) -> Result<usize, NodeError> {
    let dropped = cx.resource_arc::<Dropped>()?;
    // Its future is never polled.
    drop(never().on(cx));
    tokio::select! {
        ended = never().on(cx) => ended?,
        () = dropped.began.notified() => {}
    }
    Ok(dropped.drops.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_task() {
    let dropped = Arc::new(Dropped::default());
    let graph = impatient.compile().unwrap().resource(Arc::clone(&dropped));
    assert_eq!(graph.invoke(impatient()).await.unwrap().output, Some(1));
    let thread = graph.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let done = thread.run(impatient()).await.unwrap();
    assert_eq!(done.finished().unwrap().output, Some(2));
}

/// A graph that asks.
fn asks() -> CompiledStateGraph<u64> {
    let mut graph = StateGraph::<u64>::new();
    graph.add_node("work", |n: &u64, cx: &Context| -> Result<u64, NodeError> {
        count(cx)?;
        Ok(n + 1)
    });
    graph.add_node("ask", |n: &u64, cx: &Context| -> Result<u64, NodeError> {
        Ok(n + cx.interrupt::<u64>("more", n)?)
    });
    graph.add_sequence(&["work", "ask"]);
    graph.compile().unwrap()
}

#[entrypoint]
async fn delegates(number: u64, cx: &Context) -> Result<u64, NodeError> {
    let squared = square(number).on(cx).await?;
    let asked = cx.run(&asks(), squared).await?;
    square(asked).on(cx).await
}

#[tokio::test]
async fn an_entrypoint_calls_a_graph_that_asks() {
    let runs = Arc::new(Runs::default());
    let thread = stored(delegates.compile().unwrap(), &runs);
    let paused = thread.run(delegates(2)).await.unwrap();
    assert_eq!(paused.interrupts()[0].payload, 5);
    let done = thread.resume("more", 5).await.unwrap();
    assert_eq!(done.finished().unwrap().output, Some(100));
    // Two tasks and a node of the graph.
    assert_eq!(runs.0.load(Ordering::SeqCst), 3);
}

/// A graph with a thread of its own, which counts its runs.
fn remembers() -> CompiledStateGraph<u64> {
    let mut graph = StateGraph::<u64>::new();
    graph
        .add_node("add", |n: &u64| n + 1)
        .add_sequence(&["add"]);
    let graph = graph.compile().unwrap();
    graph.persistence(Persistence::PerThread("counter".to_owned()))
}

#[entrypoint]
async fn counts(cx: &Context) -> Result<u64, NodeError> {
    cx.run(&remembers(), ()).await
}

#[tokio::test]
async fn an_entrypoint_calls_a_graph_on_a_thread_of_its_own() {
    let thread = stored(counts.compile().unwrap(), &Arc::default());
    for run in 1..4 {
        let done = thread.run(counts()).await.unwrap();
        assert_eq!(done.finished().unwrap().output, Some(run));
    }
}

#[entrypoint]
async fn waits(cx: &Context) -> Result<Option<u64>, NodeError> {
    let begun = cx.now().await?;
    let squared = square(3).on(cx).await?;
    cx.sleep_until(begun + Duration::from_secs(60))?;
    let more: Option<u64> = cx.wait_for("paid", begun + Duration::from_secs(3600))?;
    Ok(more.map(|more| squared + more))
}

#[tokio::test]
async fn an_entrypoint_sleeps_and_waits_for_an_event() {
    for pays in [true, false] {
        let runs = Arc::new(Runs::default());
        let graph = waits.compile().unwrap().resource(Arc::clone(&runs));
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let thread = graph.thread("t");
        assert!(!thread.run(waits()).await.unwrap().is_done());
        let now = SystemTime::now();
        assert!(wake_due(&graph, now).await.unwrap().is_empty());
        let minute = now + Duration::from_secs(61);
        assert_eq!(wake_due(&graph, minute).await.unwrap().len(), 1);
        let output = if pays {
            let done = thread.signal("paid", 5_u64).await.unwrap();
            done.finished().unwrap().output
        } else {
            let hour = now + Duration::from_secs(3601);
            assert_eq!(wake_due(&graph, hour).await.unwrap().len(), 1);
            thread.state().await.unwrap().unwrap().values.output
        };
        assert_eq!(output.flatten(), pays.then_some(14));
        assert_eq!(runs.0.load(Ordering::SeqCst), 1);
    }
}
