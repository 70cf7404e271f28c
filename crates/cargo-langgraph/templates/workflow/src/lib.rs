//! An order: stock and price are checked in parallel, a person approves what is expensive.

use langgraph::graph::CompilationErrors;
use langgraph::prelude::*;

/// The state; each field says how updates are merged into it.
#[derive(State, Clone, Debug, Default)]
pub struct Order {
    pub item: String,
    pub count: u32,
    pub in_stock: bool,
    pub price: u32,
    pub approved: bool,
    #[reducer(append)]
    pub log: Vec<String>,
}

#[node]
async fn check_stock(order: &Order) -> OrderUpdate {
    OrderUpdate::default()
        .in_stock(order.count <= 100)
        .log(vec![format!("checked the stock of {}", order.item)])
}

#[node]
async fn check_price(order: &Order) -> OrderUpdate {
    let price = order.count.saturating_mul(5);
    OrderUpdate::default()
        .price(price)
        .log(vec![format!("the price is {price}")])
}

/// Pauses the thread until a person answers.
#[node]
async fn approve(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let question = format!("Buy {} {} for {}?", order.count, order.item, order.price);
    let approved: bool = cx.interrupt("approve", &question)?;
    Ok(OrderUpdate::default().approved(approved))
}

#[node]
async fn ship(_: &Order) -> OrderUpdate {
    OrderUpdate::default().log(vec!["shipped".to_owned()])
}

#[node]
async fn cancel(_: &Order) -> OrderUpdate {
    OrderUpdate::default().log(vec!["cancelled".to_owned()])
}

enum Check {
    Buy,
    Ask,
    Refuse,
}

fn checked(order: &Order) -> Check {
    match order {
        Order {
            in_stock: false, ..
        } => Check::Refuse,
        Order { price: 200.., .. } => Check::Ask,
        _ => Check::Buy,
    }
}

#[node]
async fn decide(_: &Order) {}

fn is_approved(order: &Order) -> bool {
    order.approved
}

/// Returns the graph. With a checkpointer, its threads wait for an answer as long as it takes.
pub fn order() -> Result<CompiledStateGraph<Order>, CompilationErrors> {
    graph! {
        type State = Order;

        let check_stock = check_stock.retry(3);

        START => [check_stock, check_price] => decide => match checked {
            Check::Buy => ship,
            Check::Ask => approve => if is_approved { ship } else { cancel },
            Check::Refuse => cancel,
        };
        ship => END;
        cancel => END;
    }
    .compile()
}
