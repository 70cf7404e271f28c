//! Two orders at a time on one thread: one waits for the other.

use serde_json::json;

use crate::customer::{Customer, Stopped};
use crate::graph::expected;

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let orders = [customer.order(), customer.order()];
    let waits = |order: &str| json!({"input": {"order": order, "steps": 2, "asks": false}, "multitask_strategy": "enqueue"});
    let (first, second) = (waits(&orders[0]), waits(&orders[1]));
    let (one, other) = tokio::join!(
        customer.run(&orders[0], &first),
        customer.run(&orders[1], &second),
    );
    customer.ends(&one, &["success"])?;
    customer.ends(&other, &["success"])?;
    let stored = customer.stored().await;
    let mut way: Vec<String> = expected(&orders[0], 2, None);
    let mut other_way = expected(&orders[1], 2, None);
    if stored.get(customer.done.len()) == other_way.first() {
        std::mem::swap(&mut way, &mut other_way);
    }
    customer.done.extend(way);
    customer.done.extend(other_way);
    Ok(())
}
