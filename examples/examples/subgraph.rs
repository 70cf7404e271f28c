//! A graph as a node of another graph, over the same state and over a state of its own.
//! With the same state it returns its changes; with another state, two functions convert.
//! Run it with `cargo run --example subgraph`.

use langgraph::prelude::*;
use langgraph_examples::show;

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Order {
    #[reducer(append)]
    log: Vec<String>,
    items: Vec<u32>,
    total: u32,
}

/// The state of the pricing graph, which knows nothing of orders.
#[derive(State, Clone, Debug, Default)]
struct Pricing {
    prices: Vec<u32>,
    sum: u32,
}

#[node]
async fn receive(state: &Order) -> OrderUpdate {
    OrderUpdate::default().log(vec![format!("received {} items", state.items.len())])
}

#[node]
async fn check(_: &Order) -> OrderUpdate {
    OrderUpdate::default().log(vec!["checked".to_owned()])
}

#[node]
async fn pack(_: &Order) -> OrderUpdate {
    OrderUpdate::default().log(vec!["packed".to_owned()])
}

#[node]
async fn add_up(state: &Pricing) -> PricingUpdate {
    PricingUpdate::default().sum(state.prices.iter().sum())
}

#[node]
async fn discount(state: &Pricing) -> PricingUpdate {
    PricingUpdate::default().sum(state.sum - state.sum / 10)
}

/// The graph, with its two subgraphs.
pub(crate) fn shop() -> Result<CompiledStateGraph<Order>, CompilationErrors> {
    let mut warehouse = graph! {
        type State = Order;
        START => check => pack => END;
    };
    let warehouse = warehouse.set_name("warehouse").compile()?;
    let mut pricing = graph! {
        type State = Pricing;
        START => add_up => discount => END;
    };
    let pricing = pricing.set_name("pricing").compile()?.mapped(
        |order: &Order| PricingUpdate::default().prices(order.items.clone()),
        |pricing: Pricing| OrderUpdate::default().total(pricing.sum),
    );
    let mut shop = graph! {
        type State = Order;
        START => receive => warehouse => pricing => END;
    };
    shop.set_name("shop").compile()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shop = shop()?;
    if show::graph(shop.topology()) {
        return Ok(());
    }
    let order = shop
        .invoke(OrderUpdate::default().items(vec![70, 30]))
        .await?;
    println!("{}", order.log.join(", "));
    println!("total {}", order.total);
    Ok(())
}
