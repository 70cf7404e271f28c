//! Stored threads on today's graph.

mod agents;
mod caches;
mod interrupts;
mod no_interrupt;
mod requests;
mod runs;
mod summaries;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{MemorySaver, StorageUsage};
use langgraph::error::CheckpointError;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::Persistence;
use langgraph_testing::{Divergence, Intercept, InterceptedSaver, ReplayReport, SaverCall, replay};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Order {
    item: String,
    euros: i64,
    #[reducer(append)]
    notes: Vec<String>,
}

fn note(text: &str) -> OrderUpdate {
    OrderUpdate::default().notes(vec![text.to_owned()])
}

fn price(order: &Order) -> OrderUpdate {
    OrderUpdate::default().euros(10 * i64::try_from(order.item.len()).unwrap())
}

fn approve(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let by: String = cx.interrupt("by", &format!("{} euros?", order.euros))?;
    Ok(note(&format!("approved by {by}")))
}

type Asks = fn(&Order, &Context) -> Result<OrderUpdate, NodeError>;

/// How the shop can be changed.
#[derive(Default)]
struct Change {
    price: Option<fn(&Order) -> OrderUpdate>,
    approve: Option<Asks>,
    skips_packing: bool,
    cheap_below: Option<i64>,
}

/// price → (approve, if it is dear) → pack and bill side by side.
fn shop(change: &Change) -> CompiledStateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    let limit = change.cheap_below.unwrap_or(100);
    graph
        .set_name("shop")
        .add_node("price", change.price.unwrap_or(price))
        .add_node("bill", |_: &Order| note("billed"))
        .add_edge(START, "price");
    if !change.skips_packing {
        graph.add_node("pack", |_: &Order| note("packed"));
    }
    graph.add_node("approve", change.approve.unwrap_or(approve));
    graph.add_conditional_edges(
        "price",
        move |order: &Order| {
            if order.euros < limit {
                "bill"
            } else {
                "approve"
            }
        },
        ["bill", "approve"],
    );
    graph.add_edge("approve", "bill");
    if !change.skips_packing {
        graph.add_edge("approve", "pack");
    }
    graph.compile().unwrap()
}

/// Three threads: a cheap order in two turns, a dear one that is approved, one that waits.
async fn stored() -> Arc<MemorySaver> {
    let saver = Arc::new(MemorySaver::new());
    let graph = shop(&Change::default()).checkpointer(saver.clone());
    let order = |item: &str| OrderUpdate::default().item(item.to_owned());
    graph.thread("cheap").run(order("tea")).await.unwrap();
    graph.thread("cheap").run(order("milk")).await.unwrap();
    graph
        .thread("dear")
        .run(order("teapot of gold"))
        .await
        .unwrap();
    graph.thread("dear").answer("Ada").await.unwrap();
    graph
        .thread("waits")
        .run(order("diamond ring"))
        .await
        .unwrap();
    saver
}

async fn usage(saver: &Arc<MemorySaver>) -> Vec<StorageUsage> {
    let graph = shop(&Change::default()).checkpointer(saver.clone());
    let mut usage = Vec::new();
    for thread in ["cheap", "dear", "waits"] {
        usage.push(graph.thread(thread).usage().await.unwrap());
    }
    usage
}

fn only(report: &ReplayReport) -> (&str, &Divergence) {
    let all: Vec<_> = report.diverged().collect();
    assert_eq!(all.len(), 1, "{report}");
    all[0]
}

fn shown(divergence: &Divergence) -> (i64, &str, &str, &Value, &Value) {
    let Divergence {
        superstep,
        node,
        field,
        expected,
        got,
        ..
    } = divergence;
    (*superstep, node, field, expected, got)
}

#[tokio::test]
async fn k8_the_same_graph_does_not_diverge_and_nothing_is_written() {
    let saver = stored().await;
    let before = usage(&saver).await;
    let report = replay(saver.clone(), &shop(&Change::default()))
        .await
        .unwrap();
    assert!(report.is_same(), "{report}");
    // 2 + 1 for `START` each turn; 3 + 1; 2 + 1.
    let supersteps: Vec<_> = report.threads.iter().map(|t| t.supersteps).collect();
    assert_eq!(supersteps, [6, 4, 3], "{report}");
    assert!(report.threads.iter().all(|t| t.unchecked.is_empty()));
    assert_eq!(format!("{before:?}"), format!("{:?}", usage(&saver).await));
}

#[tokio::test]
async fn k8_a_changed_node_diverges_at_its_field() {
    let saver = stored().await;
    let change = Change {
        price: Some(|order| match &*order.item {
            "milk" => OrderUpdate::default().euros(1),
            _ => price(order),
        }),
        ..Change::default()
    };
    let report = replay(saver.clone(), &shop(&change)).await.unwrap();
    let (thread, divergence) = only(&report);
    assert_eq!(thread, "cheap");
    // The second turn of the thread: steps -1, 0, 1, 2 are the first.
    assert_eq!(
        shown(divergence),
        (5, "price", "euros", &json!(40), &json!(1))
    );
    let line = "thread `cheap`, superstep 5, node `price`, `euros`: expected 40, got 1\n";
    assert!(report.to_string().starts_with(line), "{report}");
    let report = replay(saver, &shop(&change))
        .ignore(["euros"])
        .await
        .unwrap();
    assert!(report.is_same(), "{report}");
}

#[tokio::test]
async fn k8_changed_edges_diverge_at_what_follows() {
    let saver = stored().await;
    let dearer = Change {
        cheap_below: Some(35),
        ..Change::default()
    };
    let report = replay(saver.clone(), &shop(&dearer)).await.unwrap();
    let (thread, divergence) = only(&report);
    assert_eq!(thread, "cheap");
    assert_eq!(
        shown(divergence),
        (5, "price", "next", &json!(["bill"]), &json!(["approve"]))
    );

    // A kept node does not run, and its routers do.
    let report = replay(saver, &shop(&dearer)).keep(["price"]).await.unwrap();
    assert_eq!(only(&report).1.field, "next");
}

#[tokio::test]
async fn k8_a_removed_node_diverges() {
    let saver = stored().await;
    let change = Change {
        skips_packing: true,
        ..Change::default()
    };
    let report = replay(saver, &shop(&change)).await.unwrap();
    let (thread, divergence) = only(&report);
    assert_eq!(thread, "dear");
    let expected = json!(["bill", "pack"]);
    let (_, node, field, then, now) = shown(divergence);
    assert_eq!((node, field, now), ("approve", "next", &json!(["bill"])));
    assert_eq!(*then, expected);

    // One that a thread waits for.
    let mut graph = StateGraph::<Order>::new();
    graph
        .set_name("shop")
        .add_node("price", price)
        .add_edge(START, "price");
    let graph = graph.compile().unwrap();
    let report = replay(stored().await, &graph).await.unwrap();
    assert_eq!(report.diverged().count(), 3, "{report}");
    assert!(
        report
            .diverged()
            .all(|(_, divergence)| divergence.field == "next")
    );
}

#[tokio::test]
async fn k8_a_replay_that_compares_nothing_is_not_the_same() {
    let saver = stored().await;
    let mut graph = StateGraph::<Order>::new();
    graph.add_node("price", price).add_sequence(&["price"]);
    let renamed = graph.set_name("store").compile().unwrap();
    let report = replay(saver, &renamed).await.unwrap();
    assert!(!report.is_same());
    assert_eq!(
        report.to_string(),
        "graph `store`: 0 of 0 threads diverge; 0 supersteps replayed, 0 not checked; nothing was compared, the threads belong to `shop`"
    );
    let report = replay(Arc::new(MemorySaver::new()), &renamed)
        .await
        .unwrap();
    assert!(!report.is_same() && report.to_string().ends_with("; nothing was compared"));
}

/// Finds that what is stored of one thread is damaged.
struct Damages(&'static str);

impl Intercept for Damages {
    async fn around<T: std::marker::Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + std::marker::Send,
    ) -> Result<T, CheckpointError> {
        match call {
            SaverCall::Read(key) if key.thread == self.0 => Err(CheckpointError::Corrupt(
                "a row has another checksum".to_owned(),
            )),
            _ => run.await,
        }
    }
}

#[tokio::test]
async fn k8_a_damaged_thread_is_named_and_the_others_are_replayed() {
    let saver = InterceptedSaver::new(stored().await, Damages("dear"));
    let report = replay(Arc::new(saver), &shop(&Change::default()))
        .await
        .unwrap();
    let read: Vec<_> = report
        .threads
        .iter()
        .map(|thread| {
            (
                &*thread.thread,
                thread.supersteps,
                thread.unreadable.is_some(),
            )
        })
        .collect();
    assert_eq!(
        read,
        [("cheap", 6, false), ("dear", 0, true), ("waits", 3, false)]
    );
    // A part that cannot be read is not the same.
    assert!(!report.is_same() && report.diverged().next().is_none());
    let line = "thread `dear` cannot be replayed: ";
    let text = report.to_string();
    assert!(
        text.starts_with(line) && text.contains("a row has another checksum"),
        "{text}"
    );
}

#[tokio::test]
async fn k8_graphs_inside_nodes_are_replayed_superstep_by_superstep() {
    fn graph(last: &'static str) -> CompiledStateGraph<Order> {
        asking(approve, last)
    }
    fn asking(approve: Asks, last: &'static str) -> CompiledStateGraph<Order> {
        let mut inner = StateGraph::<Order>::new();
        inner
            .add_node("approve", approve)
            .add_node("file", move |_: &Order| note(last))
            .add_sequence(&["approve", "file"]);
        let mut outer = StateGraph::<Order>::new();
        outer
            .add_node("price", price)
            .add_node("desk", inner.compile().unwrap())
            .add_node("bill", |_: &Order| note("billed"))
            .add_sequence(&["price", "desk", "bill"]);
        outer.compile().unwrap()
    }
    let saver = Arc::new(MemorySaver::new());
    let stored = graph("filed").checkpointer(saver.clone());
    let thread = stored.thread("t");
    let order = OrderUpdate::default().item("tea".to_owned());
    thread.run(order).await.unwrap();
    thread.answer("Ada").await.unwrap();

    let report = replay(saver.clone(), &graph("filed")).await.unwrap();
    assert!(report.is_same(), "{report}");
    // START and 3 outside, START and 2 inside.
    assert_eq!(report.threads[0].supersteps, 7, "{report}");

    // The answered interrupt does not come up.
    let silent = asking(|_, _| Ok(note("approved by Ada")), "filed");
    let report = replay(saver.clone(), &silent).await.unwrap();
    let (_, divergence) = only(&report);
    assert_eq!(divergence.graph, ["desk"]);
    assert_eq!(
        (&*divergence.node, &*divergence.field),
        ("approve", "interrupt")
    );

    let report = replay(saver, &graph("shredded")).await.unwrap();
    let (_, divergence) = only(&report);
    assert_eq!(divergence.graph, ["desk"]);
    assert_eq!(
        shown(divergence),
        (2, "file", "notes", &json!(["filed"]), &json!(["shredded"]))
    );
}

#[tokio::test]
async fn k8_a_graph_that_keeps_its_memory_takes_no_turn_in_a_replay() {
    static TURNS: AtomicUsize = AtomicUsize::new(0);
    let mut inner = StateGraph::<Order>::new();
    inner
        .add_node("remember", |_: &Order| {
            TURNS.fetch_add(1, Ordering::Relaxed);
            note("remembered")
        })
        .add_sequence(&["remember"]);
    let inner = inner.compile().unwrap();
    let inner = inner.persistence(Persistence::PerThread("memory".to_owned()));
    let mut outer = StateGraph::<Order>::new();
    outer
        .add_node("memory", inner)
        .add_node("bill", |_: &Order| note("billed"))
        .add_sequence(&["memory", "bill"]);
    let graph = outer.compile().unwrap();

    let saver = Arc::new(MemorySaver::new());
    let stored = graph.clone().checkpointer(saver.clone());
    for _ in 0..2 {
        stored
            .thread("t")
            .run(OrderUpdate::default())
            .await
            .unwrap();
    }
    let before = stored.thread("t").usage().await.unwrap();
    let report = replay(saver, &graph).await.unwrap();
    assert!(report.is_same(), "{report}");
    assert_eq!(report.threads[0].supersteps, 6, "{report}");
    assert_eq!(TURNS.load(Ordering::Relaxed), 2);
    let after = stored.thread("t").usage().await.unwrap();
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
}

#[tokio::test]
async fn k8_maps_and_failures_are_replayed() {
    fn graph(factor: usize, works: bool) -> CompiledStateGraph<Order> {
        let mut graph = StateGraph::<Order>::new();
        let count = move |word: String| async move { note(&(factor * word.len()).to_string()) };
        let worker = graph.add_worker("count", count);
        graph
            .add_node("end", move |_: &Order| {
                let failed = || NodeError::msg("the printer is out");
                works.then(|| note("end")).ok_or_else(failed)
            })
            .add_conditional_edges(
                START,
                move |order: &Order| -> Vec<Send<Order>> {
                    let words = order.item.split(' ');
                    words
                        .map(|word| Send::to(&worker, word.to_owned()))
                        .collect()
                },
                ["count"],
            )
            .add_edge("count", "end");
        graph.compile().unwrap()
    }
    let saver = Arc::new(MemorySaver::new());
    let order = || OrderUpdate::default().item("a bc def".to_owned());
    let good = graph(1, true).checkpointer(saver.clone());
    good.thread("good").run(order()).await.unwrap();
    let bad = graph(1, false).checkpointer(saver.clone());
    bad.thread("bad").run(order()).await.unwrap_err();

    let report = replay(saver.clone(), &graph(1, true)).await.unwrap();
    assert!(report.is_same(), "{report}");
    let bad = &report.threads[0];
    assert_eq!((bad.supersteps, bad.unchecked.len()), (2, 1), "{report}");
    assert!(bad.unchecked[0].reason.contains("failed"), "{report}");

    let report = replay(saver, &graph(2, true)).await.unwrap();
    assert_eq!(report.diverged().count(), 2, "{report}");
    let (_, divergence) = report.diverged().next().unwrap();
    assert_eq!(
        shown(divergence),
        (1, "count", "notes", &json!(["1"]), &json!(["2"]))
    );
}
