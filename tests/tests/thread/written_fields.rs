//! Which fields of a thread something has written, however its state is read.

use std::sync::Arc;

use langgraph::checkpoint::{
    Checkpointer, Durability, Encoded, Fold, ListOptions, MemorySaver, Payload, Prune, ThreadKey,
};
use langgraph::prelude::*;
use langgraph::state::FieldSet;
use langgraph::stream::{Event, EventKind, StreamOptions};
use langgraph::thread::Keep;
use langgraph_tests::ByteSaver;
use serde::{Deserialize, Serialize};

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Order {
    item: String,
    price: u32,
    paid: bool,
    #[state(ephemeral)]
    hint: u32,
    #[state(untracked)]
    cache: u32,
    rounds: u32,
}

const FIELDS: [&str; 6] = ["item", "price", "paid", "hint", "cache", "rounds"];

/// Returns the names of fields.
fn names(fields: Option<FieldSet>) -> Vec<&'static str> {
    let fields = fields.expect("the written fields are known");
    fields.iter().map(|index| FIELDS[index]).collect()
}

fn update() -> OrderUpdate {
    OrderUpdate::default()
}

/// Writes a price of 0, then asks.
fn shop() -> StateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    graph
        .add_node("price", |_: &Order| update().price(0).hint(0).cache(0))
        .add_node("look", |_: &Order| ())
        .add_node(
            "ask",
            |_: &Order, cx: &Context| -> Result<OrderUpdate, NodeError> {
                Ok(update().paid(cx.interrupt("paid", "Paid?")?))
            },
        )
        .add_sequence(&["price", "look", "ask"]);
    graph
}

fn savers() -> [Arc<dyn Checkpointer>; 2] {
    [Arc::new(MemorySaver::new()), Arc::new(ByteSaver::default())]
}

fn over(graph: &StateGraph<Order>, saver: &Arc<dyn Checkpointer>) -> CompiledStateGraph<Order> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::clone(saver))
}

async fn stored(graph: &CompiledStateGraph<Order>, thread: &str) -> Vec<&'static str> {
    let state = graph.thread(thread).state().await.unwrap().unwrap();
    names(state.written)
}

fn values(event: &Event<Order>) -> Option<Vec<&'static str>> {
    match &event.kind {
        EventKind::Values(state) => Some(names(state.written())),
        _ => None,
    }
}

#[tokio::test]
async fn a_stream_shows_which_fields_were_written_with_each_state() {
    let graph = over(&shop(), &savers()[0]);
    let run = graph.run(update().item(String::new())).thread("t");
    let mut events = run.stream(StreamMode::Values | StreamMode::Tasks);
    let (mut states, mut inputs) = (Vec::new(), Vec::new());
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        states.extend(values(&event));
        if let EventKind::TaskStarted(task) = &event.kind {
            inputs.push(names(task.input.written()));
        }
    }
    // An ephemeral field is written for one superstep.
    let priced = ["item", "price", "hint", "cache"].to_vec();
    assert_eq!(states, [vec!["item"], priced.clone()]);
    let later = ["item", "price", "cache"].to_vec();
    assert_eq!(inputs, [vec!["item"], priced, later.clone()]);
    assert_eq!(names(events.written()), later);
}

#[tokio::test]
async fn a_thread_knows_which_fields_were_written_over_every_change() {
    for saver in savers() {
        for durability in [Durability::Sync, Durability::Exit] {
            let graph = over(&shop(), &saver);
            let thread = format!("{durability:?}");
            let run = graph.run(update().item(String::new())).thread(&thread);
            run.durability(durability).await.unwrap();
            // An untracked field is not stored.
            assert_eq!(stored(&graph, &thread).await, ["item", "price"]);

            let copied = graph.thread(&thread);
            copied.copy(&format!("{thread}-copy")).await.unwrap();
            copied.prune(Keep::Newest(1)).await.unwrap();
            assert_eq!(stored(&graph, &thread).await, ["item", "price"]);

            let change = graph.thread(&thread).update(update().rounds(0));
            change.as_node("look").await.unwrap();
            let changed = ["item", "price", "rounds"];
            assert_eq!(stored(&graph, &thread).await, changed);
            graph.thread(&thread).fork().await.unwrap();
            assert_eq!(stored(&graph, &thread).await, changed);

            graph.thread(&thread).proceed().await.unwrap();
            graph.thread(&thread).answer(false).await.unwrap();
            let paid = ["item", "price", "paid", "rounds"];
            assert_eq!(stored(&graph, &thread).await, paid);
            let copy = stored(&graph, &format!("{thread}-copy")).await;
            assert_eq!(copy, ["item", "price"]);

            let history = graph.thread(&thread).history().await.unwrap();
            let known = history.iter().filter(|one| one.written.is_some());
            assert_eq!(known.count(), history.len());
        }
    }
}

#[tokio::test]
async fn a_history_shows_what_was_written_by_then() {
    for saver in savers() {
        let graph = over(&shop(), &saver);
        graph
            .run(update().item(String::new()))
            .thread("t")
            .await
            .unwrap();
        let history = graph.thread("t").history().await.unwrap();
        let written: Vec<_> = history
            .iter()
            .rev()
            .map(|one| names(one.written.clone()))
            .collect();
        assert_eq!(written[0], [] as [&str; 0]);
        assert_eq!(written[1], ["item"]);
        assert_eq!(written[2], ["item", "price", "hint"]);
        assert_eq!(written[3], ["item", "price"]);
    }
}

#[tokio::test]
async fn a_long_log_is_stored_without_the_fields_that_nothing_has_written() {
    let mut graph = StateGraph::<Order>::new();
    let work = |order: &Order| {
        let text = "x".repeat(100);
        update().item(text).rounds(order.rounds + 1)
    };
    graph.add_node("work", work).add_edge(START, "work");
    let more = |order: &Order| if order.rounds < 400 { "more" } else { "enough" };
    graph.add_conditional_edges("work", more, [("more", "work"), ("enough", END)]);
    for saver in savers() {
        let graph = over(&graph, &saver);
        graph.run(()).thread("t").limit(500).await.unwrap();
        let chain = saver
            .load(&ThreadKey::root("t"), None)
            .await
            .unwrap()
            .unwrap();
        let first = &chain.records.first().unwrap().checkpoint;
        assert!(first.snapshot.is_some(), "the log has no snapshot");
        assert_eq!(stored(&graph, "t").await, ["item", "rounds"]);
        if let Some(Payload::Bytes(encoded)) = &first.snapshot {
            let text = String::from_utf8_lossy(&encoded.bytes);
            assert!(!text.contains("paid"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_subgraph_knows_what_was_written_around_it() {
    let inner = shop().compile().unwrap();
    let mut outer = StateGraph::<Order>::new();
    outer
        .add_node("count", |_: &Order| update().rounds(0))
        .add_node("shop", inner)
        .add_sequence(&["count", "shop"]);
    for saver in savers() {
        let graph = over(&outer, &saver);
        let options = StreamOptions::new(StreamMode::Values).subgraphs();
        let mut events = graph
            .run(update().item(String::new()))
            .thread("t")
            .stream(options);
        let mut inside = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            if !event.namespace.is_empty() {
                inside.extend(values(&event));
            }
        }
        let priced = ["item", "price", "hint", "cache", "rounds"];
        assert_eq!(inside.last().unwrap(), &priced);
        assert!(
            inside.iter().all(|written| written.contains(&"rounds")),
            "{inside:?}"
        );

        let state = graph.thread("t").state_with_subgraphs().await.unwrap();
        let state = state.unwrap();
        let inner = state.tasks[0].inside::<Order>().unwrap();
        assert_eq!(names(inner.written.clone()), ["item", "price", "rounds"]);
        graph.thread("t").answer(true).await.unwrap();
        let all = ["item", "price", "paid", "rounds"];
        assert_eq!(stored(&graph, "t").await, all);
    }
}

#[tokio::test]
async fn what_older_versions_have_stored_is_unknown() {
    let saver: Arc<dyn Checkpointer> = Arc::new(ByteSaver::default());
    let graph = over(&shop(), &saver);
    graph
        .run(update().item(String::new()))
        .thread("t")
        .await
        .unwrap();
    let key = ThreadKey::root("t");
    let all = saver.list(&key, ListOptions::default()).await.unwrap();
    let old = r#"{"writes":[{"state":{"item":"tea","price":0,"paid":false,"hint":0,"rounds":7}}]}"#;
    let fold = Fold {
        id: all[0],
        snapshot: Payload::Bytes(Encoded::new("json", 0, old.to_owned())),
        ran: Vec::new(),
        joined: Vec::new(),
    };
    let prune = Prune {
        fold: vec![fold],
        delete: all[1..].to_vec(),
    };
    let administration = saver.administration().unwrap();
    administration.prune(&key, prune).await.unwrap();
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!((&*state.values.item, state.values.rounds), ("tea", 7));
    assert_eq!(state.written, None);

    // What is unknown stays so.
    graph.thread("t").answer(true).await.unwrap();
    graph.thread("t").prune(Keep::Newest(1)).await.unwrap();
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!((state.values.paid, state.written), (true, None));
}
