//! Two orders at a time on one thread: one waits for the other.

use serde_json::json;

use crate::customer::{Customer, Stopped};
use crate::order::Order;

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let orders = [customer.order(2, false), customer.order(2, false)];
    let waits = |order: &Order| json!({"input": order.input(), "multitask_strategy": "enqueue"});
    let (first, second) = (waits(&orders[0]), waits(&orders[1]));
    let (one, other) = tokio::join!(
        customer.run(&orders[0].name, &first),
        customer.run(&orders[1].name, &second),
    );
    customer.ends(&one, &["success"])?;
    customer.ends(&other, &["success"])?;
    let stored = customer.stored().await;
    let mut way: Vec<String> = orders[0].expected(None);
    let mut other_way = orders[1].expected(None);
    if stored.get(customer.done.len()) == other_way.first() {
        std::mem::swap(&mut way, &mut other_way);
    }
    customer.done.extend(way);
    customer.done.extend(other_way);
    Ok(())
}
