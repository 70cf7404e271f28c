//! A graph with routers, reducers, sends, an interrupt and a subgraph.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::node::Send;
use langgraph::prelude::*;
use serde::{Deserialize, Serialize};

use super::change::{changed, pick};

/// What is changed, one at a time.
pub(crate) const CHANGES: [&str; 29] = [
    "node: another factor",
    "node: is off by one for what is dear",
    "node: another text",
    "node: writes nothing",
    "node: writes twice",
    "node: writes another field",
    "node: fails",
    "node: panics",
    "node: removed",
    "node: added",
    "interrupt: another question",
    "interrupt: another key",
    "interrupt: none",
    "interrupt: one more",
    "interrupt: ignores the answer",
    "router: another limit",
    "router: the wrong way round",
    "router: always the same",
    "router: skips a node",
    "reducer: replaces",
    "reducer: in front",
    "reducer: keeps the last two",
    "reducer: without copies",
    "reducer: the largest",
    "send: one item less",
    "send: another order",
    "send: the worker counts otherwise",
    "subgraph: another text",
    "subgraph: another order",
];

fn notes(mut old: Vec<String>, new: Vec<String>) -> Vec<String> {
    if changed("reducer: replaces") {
        return new;
    }
    if changed("reducer: in front") {
        return [new, old].concat();
    }
    old.extend(new);
    if changed("reducer: keeps the last two") {
        return old.split_off(old.len().saturating_sub(2));
    }
    if changed("reducer: without copies") {
        old.dedup();
    }
    old
}

#[allow(clippy::needless_pass_by_value)] // the form of a reducer
fn total(old: i64, new: i64) -> i64 {
    if changed("reducer: the largest") {
        return old.max(new);
    }
    old + new
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    items: Vec<String>,
    #[reducer(total)]
    euros: i64,
    rebate: i64,
    #[reducer(notes)]
    notes: Vec<String>,
}

fn note(text: &str) -> OrderUpdate {
    OrderUpdate::default().notes(vec![text.to_owned()])
}

async fn weigh(item: String) -> OrderUpdate {
    let letters = i64::try_from(item.len()).unwrap();
    let factor = pick("send: the worker counts otherwise", 11, 10);
    OrderUpdate::default().euros(factor * letters)
}

fn rebate(order: &Order) -> Result<OrderUpdate, NodeError> {
    assert!(!changed("node: panics"), "the till is broken");
    if changed("node: fails") {
        return Err(NodeError::msg("the till is closed"));
    }
    let percent = pick("node: another factor", 20, 10);
    let mut rebate = order.euros * percent / 100;
    if changed("node: is off by one for what is dear") && order.euros > 100 {
        rebate += 1;
    }
    let update = OrderUpdate::default().rebate(rebate);
    if changed("node: writes another field") {
        return Ok(OrderUpdate::default().euros(rebate));
    }
    Ok(update)
}

fn approve(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    if changed("interrupt: none") {
        return Ok(note("approved by Ada"));
    }
    let question = format!("{} euros?", order.euros);
    let question = pick("interrupt: another question", "who?".to_owned(), question);
    let by: String = cx.interrupt(pick("interrupt: another key", "who", "by"), &question)?;
    if changed("interrupt: one more") {
        let _: String = cx.interrupt("why", "why?")?;
    }
    let by = pick("interrupt: ignores the answer", "Bob", by.as_str()).to_owned();
    Ok(note(&format!("approved by {by}")))
}

fn pack() -> OrderUpdate {
    if changed("node: writes nothing") {
        return OrderUpdate::default();
    }
    let text = pick("node: another text", "wrapped", "packed");
    if changed("node: writes twice") {
        return OrderUpdate::default().notes(vec![text.to_owned(), text.to_owned()]);
    }
    note(text)
}

/// A subgraph that files an order twice.
fn file() -> CompiledStateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    let text = pick("subgraph: another text", "shredded", "filed");
    let order = if changed("subgraph: another order") {
        ["copy", "file"]
    } else {
        ["file", "copy"]
    };
    graph
        .add_node("file", move |_: &Order| note(text))
        .add_node("copy", |_: &Order| note("filed"))
        .add_sequence(&order);
    graph.compile().unwrap()
}

fn next(order: &Order) -> &'static str {
    let is_dear = if changed("router: the wrong way round") {
        order.euros < 100
    } else {
        order.euros > pick("router: another limit", 1_000, 100)
    };
    match () {
        () if changed("router: always the same") => "pack",
        () if changed("router: skips a node") && is_dear => "file",
        () if is_dear => "approve",
        () => "pack",
    }
}

/// Returns the graph as the code is at the moment: a task for each item, a rebate, an approval of what is
/// dear, and then it is packed and filed.
pub(crate) fn graph() -> CompiledStateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    let worker = graph.add_worker("weigh", weigh);
    let items = move |order: &Order| -> Vec<Send<Order>> {
        let mut items = order.items.clone();
        if changed("send: one item less") {
            items.pop();
        }
        if changed("send: another order") {
            items.reverse();
        }
        items
            .into_iter()
            .map(|item| Send::to(&worker, item))
            .collect()
    };
    graph
        .set_name("shop")
        .add_node("rebate", rebate)
        .add_node("approve", approve)
        .add_node("file", file())
        .add_conditional_edges(START, items, ["weigh"])
        .add_edge("weigh", "rebate")
        .add_conditional_edges("rebate", next, ["approve", "pack", "file"])
        .add_node("pack", |_: &Order| pack());
    if changed("node: removed") {
        graph.add_edge("approve", "file");
    } else {
        graph.add_edge("approve", "pack");
    }
    if changed("node: added") {
        graph.add_node("seal", |_: &Order| note("sealed"));
        graph.add_edge("pack", "seal").add_edge("seal", "file");
    } else {
        graph.add_edge("pack", "file");
    }
    graph.compile().unwrap()
}

/// Stores a dear order that Ada approves.
pub(crate) async fn stored() -> Arc<MemorySaver> {
    let saver = Arc::new(MemorySaver::new());
    let graph = graph().checkpointer(saver.clone());
    let items = ["teapot", "sugar bowl"].map(str::to_owned);
    let order = OrderUpdate::default().items(items.to_vec());
    graph.thread("order 7").run(order).await.unwrap();
    graph.thread("order 7").answer("Ada").await.unwrap();
    saver
}
