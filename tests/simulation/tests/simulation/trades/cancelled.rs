//! An order that is cancelled while it is carried out, and then continued, or taken back.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::is_within;
use crate::customer::{Customer, Stopped};
use crate::order::Order;

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let order = customer.order(3, false);
    let asks = json!({"input": order.input()});
    cancel(customer, order, &asks).await
}

/// As [`trade`], for a run that stores nothing before it ends.
pub(super) async fn trade_at_exit(customer: &mut Customer) -> Result<(), Stopped> {
    let order = customer.order(3, false);
    customer.site.ledger.stores_at_exit(&order.name);
    let asks = json!({"input": order.input(), "durability": "exit"});
    cancel(customer, order, &asks).await
}

async fn cancel(customer: &mut Customer, order: Order, asks: &Value) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    let all = order.expected(None);
    let order = order.name;
    let path = customer.begin(&order, asks).await;
    tokio::time::sleep(world.up_to(500)).await;
    let action = if world.below(2) == 0 {
        "interrupt"
    } else {
        "rollback"
    };
    world.record(format!("{order} is cancelled: {action}"));
    customer.site.ledger.cancels(&order);
    let cancel = format!("{path}/cancel?action={action}");
    let (answer, text) = customer
        .client
        .ask(Method::POST, &cancel, None, &Value::Null)
        .await;
    // It may have ended before, or been removed by an earlier attempt of this request.
    let known = [
        StatusCode::ACCEPTED,
        StatusCode::CONFLICT,
        StatusCode::NOT_FOUND,
    ];
    if !known.contains(&answer) {
        return Err(customer.violated(format!("{cancel} answers {answer}: {text}")));
    }
    let ended = customer.ended(path, &order).await;
    if action == "rollback" {
        customer.ends(&ended, &["", "success"])?;
        if ended.status == "success" {
            customer.done.extend(all);
        }
        return Ok(());
    }
    customer.ends(&ended, &["interrupted", "success"])?;
    if ended.status == "interrupted" {
        let stored = customer.stored().await;
        let is_part = stored
            .strip_prefix(&*customer.done)
            .is_some_and(|part| is_within(part, &all));
        if !is_part {
            return Err(customer.violated(format!("{order} left {stored:?}")));
        }
        // Without its input, what the thread would go on with is another order: a change from outside counts as a step of
        // `ship`, after which its parcels are wrapped again.
        if customer.state().await["values"]["order"] != json!(order) {
            return Ok(());
        }
        let key = format!("{order}/goes on");
        let goes_on = customer.run(&key, &json!({"input": null})).await;
        customer.ends(&goes_on, &["success"])?;
    }
    customer.done.extend(all);
    Ok(())
}
