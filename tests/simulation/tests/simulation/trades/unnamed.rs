//! Orders without a thread: each gets one, which ends with its run, or stays.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::customer::{Customer, Stopped};
use crate::order::Order;

/// Orders of all customers with this key are carried out one after the other.
const KEY: &str = "the till";

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    let orders: Vec<Order> = (0..=world.below(3))
        .map(|_| customer.order(1, false))
        .collect();
    let (stays, has_key) = (world.below(2) == 0, world.below(2) == 0);
    let requests = orders.iter().map(|order| {
        let mut request = Customer::request(&json!({"input": order.input()}));
        request["on_completion"] = json!(if stays { "keep" } else { "delete" });
        if has_key {
            request["concurrency_key"] = json!(KEY);
        }
        request
    });
    let requests: Value = requests.collect();
    let key = orders.first().map(|order| &*order.name);
    world.record(format!("{} orders have no thread", orders.len()));
    let path = "/runs/batch";
    let asked = customer.client.ask(Method::POST, path, key, &requests);
    let (status, runs) = asked.await;
    match status {
        StatusCode::OK => {}
        // An earlier attempt was accepted, and one of its runs has ended with its thread.
        StatusCode::CONFLICT if !stays => return are_carried_out(customer, &orders).await,
        _ => return Err(customer.violated(format!("{path} answers {status}: {runs}"))),
    }
    for (order, run) in orders.iter().zip(runs.as_array().into_iter().flatten()) {
        let field = |name: &str| run[name].as_str().unwrap_or_default();
        let thread = format!("/threads/{}", field("thread_id"));
        if stays {
            let path = format!("{thread}/runs/{}", field("run_id"));
            is_done_and_stays(customer, order, &thread, path).await?;
        } else {
            let path = format!("/runs/{}", field("run_id"));
            is_done(customer, order, path).await?;
        }
    }
    are_carried_out(customer, &orders).await
}

/// Waits for a run whose thread stays.
async fn is_done_and_stays(
    customer: &mut Customer,
    order: &Order,
    thread: &str,
    path: String,
) -> Result<(), Stopped> {
    let ended = customer.ended(path, &order.name).await;
    customer.ends(&ended, &["success"])?;
    let state = customer.client.get(&format!("{thread}/state")).await;
    if state["values"]["done"] != json!(order.expected(None)) {
        return Err(customer.violated(format!("{thread} is kept with {state}")));
    }
    if customer.site.world.below(2) == 0 {
        customer.client.remove(thread).await;
    }
    Ok(())
}

/// Waits for a run whose thread ends with it.
async fn is_done(customer: &mut Customer, order: &Order, path: String) -> Result<(), Stopped> {
    let (events, status) = customer.client.watch(&path, "-1").await;
    let has_failed = events.last().is_some_and(|(_, kind, _)| kind == "error");
    customer.sees_each_once(&path, &events)?;
    if customer.site.world.may_give_up() {
        return Ok(());
    }
    if has_failed || !status.is_empty() {
        let text = format!("{} has ended with {events:?}", order.name);
        return Err(customer.violated(text));
    }
    customer.expects_webhook(&path, "success");
    Ok(())
}

/// Waits until all of the orders are paid.
async fn are_carried_out(customer: &Customer, orders: &[Order]) -> Result<(), Stopped> {
    for order in orders {
        let paid = format!("{}/paid", order.name);
        let mut pauses = 0;
        while customer.site.ledger.times(&paid) == 0 {
            pauses += 1;
            if customer.site.world.may_give_up() {
                return Err(Stopped);
            }
            if pauses > 300 {
                return Err(customer.violated(format!("{paid} was not done")));
            }
            customer.client.pause().await;
        }
    }
    Ok(())
}
