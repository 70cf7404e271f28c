//! Stored threads on today's graph.
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{MemorySaver, Usage};
use langgraph::message::ToolCall;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::Persistence;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Approval, EffectExt, FnTool, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn,
    react_agent,
};
use langgraph_testing::{Divergence, ReplayReport, replay};
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

async fn usage(saver: &Arc<MemorySaver>) -> Vec<Usage> {
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
async fn k8_changed_questions_diverge() {
    let saver = stored().await;
    let change = |approve: Asks| Change {
        approve: Some(approve),
        ..Change::default()
    };
    // Another question: the stored answer still counts, and the open question differs.
    let asks_more = change(|_, cx| {
        let by: String = cx.interrupt("by", "who?")?;
        Ok(note(&format!("approved by {by}")))
    });
    let report = replay(saver.clone(), &shop(&asks_more)).await.unwrap();
    let (thread, divergence) = only(&report);
    assert_eq!((thread, &*divergence.field), ("waits", "interrupt"));
    assert_eq!(divergence.expected, json!([{"by": "120 euros?"}]));
    assert_eq!(divergence.got, json!([{"by": "who?"}]));

    // A second question: what was finished asks again.
    let asks_twice = change(|order, cx| {
        let _ = approve(order, cx)?;
        let why: String = cx.interrupt("why", "why?")?;
        Ok(note(&why))
    });
    let report = replay(saver.clone(), &shop(&asks_twice)).await.unwrap();
    let (thread, divergence) = only(&report);
    assert_eq!((thread, &*divergence.field), ("dear", "outcome"));
    assert_eq!(divergence.got, json!({"interrupts": [{"why": "why?"}]}));

    // No question any more: neither the open one nor the answered one comes up.
    let asks_nothing = change(|_, _| Ok(note("approved by Ada")));
    let report = replay(saver, &shop(&asks_nothing)).await.unwrap();
    let diverged: Vec<_> = report.diverged().collect();
    let fields = diverged
        .iter()
        .map(|(thread, divergence)| (*thread, &*divergence.field));
    let fields: Vec<_> = fields.collect();
    assert_eq!(fields, [("dear", "interrupt"), ("waits", "outcome")]);
    assert_eq!(diverged[0].1.expected, json!([{"by": "140 euros?"}]));
    assert!(diverged.iter().all(|(_, found)| found.got == "finished"));
}

#[tokio::test]
async fn k8_each_answered_question_of_a_task_has_to_come_up_again() {
    fn graph(keys: &'static [&'static str]) -> CompiledStateGraph<Order> {
        let ask = move |_: &Order, cx: &Context| {
            for key in keys {
                let _: String = cx.interrupt(key, key)?;
            }
            Ok::<_, NodeError>(note("asked"))
        };
        let mut graph = StateGraph::<Order>::new();
        graph
            .add_node("ask", ask)
            .add_node("beside", |_: &Order| note("beside"))
            .add_edge(START, "ask")
            .add_edge(START, "beside");
        graph.compile().unwrap()
    }
    let saver = Arc::new(MemorySaver::new());
    let stored = graph(&["who", "why"]).checkpointer(saver.clone());
    stored
        .thread("t")
        .run(OrderUpdate::default())
        .await
        .unwrap();
    stored.thread("t").answer("Ada").await.unwrap();
    stored.thread("t").answer("tea").await.unwrap();

    for (keys, missing) in [
        (&["who", "why"][..], None),
        (&["why", "who"], None),
        (&["why"], Some("who")),
        (&["who"], Some("why")),
        (&[], Some("who")),
    ] {
        let report = replay(saver.clone(), &graph(keys)).await.unwrap();
        let expected = report
            .diverged()
            .map(|(_, found)| (&*found.field, found.expected.clone()));
        let expected: Vec<_> = expected.collect();
        let missing = missing.map(|key: &str| ("interrupt", json!([{key: key}])));
        assert_eq!(expected, Vec::from_iter(missing), "{keys:?}: {report}");
    }
}

#[tokio::test]
async fn k8_a_question_of_a_router_has_to_come_up_again() {
    fn graph(asks: bool) -> CompiledStateGraph<Order> {
        let route = move |_: &Order, cx: &Context| {
            if asks {
                let _: String = cx.interrupt("way", "which way?")?;
            }
            Ok::<_, NodeError>("bill")
        };
        let mut graph = StateGraph::<Order>::new();
        graph
            .add_node("price", price)
            .add_node("bill", |_: &Order| note("billed"))
            .add_edge(START, "price")
            .add_conditional_edges("price", route, ["bill"]);
        graph.compile().unwrap()
    }
    let saver = Arc::new(MemorySaver::new());
    let stored = graph(true).checkpointer(saver.clone());
    stored
        .thread("t")
        .run(OrderUpdate::default())
        .await
        .unwrap();
    stored.thread("t").answer("left").await.unwrap();

    let report = replay(saver.clone(), &graph(true)).await.unwrap();
    assert!(report.is_same(), "{report}");
    let report = replay(saver, &graph(false)).await.unwrap();
    assert_eq!(only(&report).1.field, "interrupt");
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

static CHARGED: AtomicUsize = AtomicUsize::new(0);

/// The keys of what is done once.
struct Card(&'static str);

#[node]
async fn pay(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let Card(card) = cx.resource()?;
    let charge = || Ok::<_, NodeError>(CHARGED.fetch_add(1, Ordering::Relaxed));
    let first: usize = cx.once_with((*card, &order.item), charge).await?;
    let mail = cx.effect("mail").run(|_| async { charge() });
    let second: usize = mail.await?;
    Ok(note(&format!("{first} {second}")))
}

#[tokio::test]
async fn k8_effects_are_not_repeated_in_a_replay() {
    let graph = |card: &'static str| {
        let mut graph = StateGraph::<Order>::new();
        graph.add_node("pay", pay).add_sequence(&["pay"]);
        graph.compile().unwrap().resource(Arc::new(Card(card)))
    };
    let saver = Arc::new(MemorySaver::new());
    let stored = graph("card").checkpointer(saver.clone());
    stored
        .thread("t")
        .run(OrderUpdate::default())
        .await
        .unwrap();
    assert_eq!(CHARGED.load(Ordering::Relaxed), 2);

    let report = replay(saver.clone(), &graph("card")).await.unwrap();
    assert!(report.is_same(), "{report}");
    // Work that was not done then does not begin now.
    let report = replay(saver, &graph("giro")).await.unwrap();
    let (_, divergence) = only(&report);
    assert_eq!(divergence.field, "outcome");
    let got = divergence.got.as_str().unwrap();
    assert!(got.contains("`giro` has no stored result"), "{got}");
    assert_eq!(CHARGED.load(Ordering::Relaxed), 2);
}

static REFUNDS: AtomicUsize = AtomicUsize::new(0);

fn desk(model: ScriptedModel) -> langgraph_agent::ReactAgent {
    let refund = FnTool::new("refund", "Pays back.", || async {
        REFUNDS.fetch_add(1, Ordering::Relaxed);
        "paid back"
    });
    react_agent(model, (refund, double))
}

/// Doubles a number.
#[tool]
async fn double(n: i64) -> i64 {
    n * 2
}

#[tokio::test]
async fn k8_models_and_tools_of_a_replayed_agent_answer_as_they_did_then() {
    let model = ScriptedModel::new([
        Turn::tool_calls([
            ToolCall::new("c1", "refund", json!({})),
            ToolCall::new("c2", "double", json!({"n": 4})),
        ]),
        Turn::text("Done."),
        Turn::tool_calls([ToolCall::new("c3", "refund", json!({}))]),
    ]);
    let saver = Arc::new(MemorySaver::new());
    let graph = desk(model).approve("refund").compile().unwrap();
    let graph = graph.checkpointer(saver.clone());
    let question = || MessagesStateUpdate::user("My money!");
    let thread = graph.thread("t");
    thread.run(question()).await.unwrap();
    thread.resume("c1", ToolDecision::Approve).await.unwrap();
    thread.run(question()).await.unwrap(); // waits for an approval
    assert_eq!(REFUNDS.load(Ordering::Relaxed), 1);

    // No turn is left in the script: the model is not asked.
    let silent = ScriptedModel::new(Vec::<Turn>::new());
    let same = desk(silent.clone()).approve("refund").compile().unwrap();
    let report = replay(saver.clone(), &same).await.unwrap();
    assert!(report.is_same(), "{report}");
    assert_eq!(report.threads[0].supersteps, 7, "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");
    assert!(silent.requests().is_empty());
    assert_eq!(REFUNDS.load(Ordering::Relaxed), 1);

    // A tool that only computes may run.
    let report = replay(saver.clone(), &same)
        .run_tools(["double"])
        .await
        .unwrap();
    assert!(report.is_same(), "{report}");

    // Without approvals, the first refund would be paid without a question, and so would the one that
    // waits. Neither is paid.
    let rash = desk(silent).compile().unwrap();
    let report = replay(saver, &rash).await.unwrap();
    let (_, divergence) = only(&report);
    let (_, node, field, _, got) = shown(divergence);
    assert_eq!(
        (node, field, got),
        ("tools", "interrupt", &json!("finished"))
    );
    assert_eq!(REFUNDS.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn k8_an_expired_approval_asks_again_in_a_replay() {
    let call = |id: &str| Turn::tool_calls([ToolCall::new(id, "double", json!({"n": 4}))]);
    let graph = |turns: Vec<Turn>| {
        let soon = std::time::Duration::from_millis(20);
        let approval = Approval::of(["double"]).expires_in(soon, ToolDecision::reject("Too late."));
        let agent = react_agent(ScriptedModel::new(turns), (double,));
        agent.approve(approval).compile().unwrap()
    };
    let saver = Arc::new(MemorySaver::new());
    let turns = vec![call("c1"), Turn::text("It was rejected."), call("c2")];
    let stored = graph(turns).checkpointer(saver.clone());
    let thread = stored.thread("t");
    thread
        .run(MessagesStateUpdate::user("4 + 4?"))
        .await
        .unwrap();
    let expires = async || tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    expires().await;
    let run = langgraph_agent::expired_approvals(&thread).await.unwrap();
    run.unwrap().await.unwrap();
    thread
        .run(MessagesStateUpdate::user("4 + 4?"))
        .await
        .unwrap();
    expires().await;

    // One approval got its default, and one is open.
    let report = replay(saver, &graph(Vec::new())).await.unwrap();
    assert!(report.is_same(), "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");
}

async fn judge(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let model = cx.resource::<dyn ChatModel>()?;
    let question = [langgraph::message::Message::user(order.item.as_str())];
    let answer = model.invoke(&question, cx).await?;
    Ok(note(&answer.text()))
}

#[tokio::test]
async fn k8_answers_of_models_that_are_no_messages_come_from_the_users_model() {
    let mut graph = StateGraph::<Order>::new();
    graph.add_node("judge", judge).add_sequence(&["judge"]);
    let graph = graph.compile().unwrap();
    let saver = Arc::new(MemorySaver::new());
    let model = |says: &str| -> Arc<dyn ChatModel> { Arc::new(ScriptedModel::new([says])) };
    let stored = graph.clone().checkpointer(saver.clone());
    let run = stored.thread("t").run(OrderUpdate::default());
    run.resource(model("fine")).await.unwrap();

    let report = replay(saver.clone(), &graph).await.unwrap();
    // Its only node is not checked.
    assert!(!report.is_same() && report.diverged().next().is_none());
    let [unchecked] = &*report.threads[0].unchecked else {
        panic!("{report}");
    };
    assert_eq!(unchecked.node.as_deref(), Some("judge"));

    assert!(unchecked.reason.contains(".model(..)"), "{report}");

    for (says, same) in [("fine", true), ("bad", false)] {
        let graph = graph.clone().resource(model("never asked"));
        let scripted = ScriptedModel::new([says]);
        let report = replay(saver.clone(), &graph).model(scripted).await.unwrap();
        assert_eq!(report.is_same(), same, "{report}");
        assert!(report.threads[0].unchecked.is_empty());
    }
}

#[tokio::test]
async fn k8_graphs_inside_nodes_are_replayed_superstep_by_superstep() {
    fn graph(last: &'static str) -> CompiledStateGraph<Order> {
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
