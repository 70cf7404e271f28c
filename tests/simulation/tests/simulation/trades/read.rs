//! An order whose events several clients read, alone and among those of its thread, and whose result one waits for.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::{Method, StatusCode};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::client::Event;
use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    let order = customer.order(3, false);
    let path = customer
        .begin(&order.name, &json!({"input": order.input()}))
        .await;
    let readers = (0..=world.below(2)).map(async |_| {
        tokio::time::sleep(customer.site.world.up_to(800)).await;
        customer.client.watch(&path, "-1").await.0
    });
    // How many events there are.
    let wanted = AtomicUsize::new(usize::MAX);
    let alone = async {
        let ended = customer.ended(path.clone(), &order.name).await;
        wanted.store(ended.events.len(), Ordering::Relaxed);
        ended
    };
    let run = path.rsplit('/').next().unwrap_or_default();
    let has_all = |events: &[Event]| of(run, events).len() >= wanted.load(Ordering::Relaxed);
    let thread = format!("{}/stream", customer.thread);
    let among = customer.client.follow(&thread, has_all);
    let (ended, others, among, result) =
        tokio::join!(alone, join_all(readers), among, result(customer, &path));
    if others.iter().any(|events| *events != ended.events) {
        let text = format!("of {path}, clients have {others:?} and {:?}", ended.events);
        return Err(customer.violated(text));
    }
    customer.sees_each_once(&thread, &among)?;
    is_same_among(customer, &ended.events, of(run, &among))?;
    customer.ends(&ended, &["success"])?;
    customer.done.extend(order.expected(None));
    if result["done"] != json!(customer.done) {
        return Err(customer.violated(format!("the result of {path} is {result}")));
    }
    Ok(())
}

/// Returns the events of a run among those of its thread. It is the last one.
fn of<'e>(run: &str, events: &'e [Event]) -> &'e [Event] {
    let is_first = |(_, kind, data): &Event| kind == "metadata" && data.contains(run);
    let first = events.iter().position(is_first);
    let (_, own) = events.split_at(first.unwrap_or(events.len()));
    own
}

/// Checks that the events of a run are the same ones in the stream of its thread, where they have other ids.
fn is_same_among(customer: &Customer, alone: &[Event], among: &[Event]) -> Result<(), Stopped> {
    let without_ids = |events: &[Event]| -> Vec<(String, String)> {
        let events = events.iter();
        let events = events.map(|(_, kind, data)| (kind.clone(), data.clone()));
        events.collect()
    };
    if without_ids(alone) != without_ids(among) {
        let text = format!("alone {alone:?}, and in the stream of the thread {among:?}");
        return Err(customer.violated(text));
    }
    Ok(())
}

/// Waits for the result of a run.
async fn result(customer: &Customer, run: &str) -> Value {
    let path = format!("{run}/join");
    let waits = customer.client.ask(Method::GET, &path, None, &Value::Null);
    let (status, result) = waits.await;
    if status != StatusCode::OK {
        customer.violated(format!("{path} answers {status}: {result}"));
    }
    result
}
