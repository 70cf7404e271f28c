//! An order: stock and price are checked in parallel, a person approves what is expensive.

use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, Final, entrypoint, task};

#[task(retry = 3)]
async fn check_stock(item: String, count: u32) -> Result<bool, NodeError> {
    Ok(!item.is_empty() && count <= 100)
}

#[task]
async fn check_price(count: u32) -> u32 {
    count.saturating_mul(5)
}

#[task]
async fn ship(item: String, count: u32) -> String {
    format!("shipped {count} {item}")
}

/// Returns what has become of the order; the thread keeps how many it has shipped. With a checkpointer it waits for an
/// answer as long as it takes, and no task runs twice.
#[entrypoint]
pub async fn order(
    item: String,
    count: u32,
    cx: &Context,
    previous: Option<&u32>,
) -> Result<Final<String, u32>, NodeError> {
    let shipped = previous.copied().unwrap_or_default();
    let (in_stock, price) = tokio::try_join!(
        check_stock(item.clone(), count).on(cx),
        check_price(count).on(cx),
    )?;
    if !in_stock {
        return Ok(Final::new("not in stock".to_owned()));
    }
    if price >= 200 {
        let approved: bool =
            cx.interrupt("approve", &format!("Buy {count} {item} for {price}?"))?;
        if !approved {
            return Ok(Final::new("cancelled".to_owned()));
        }
    }
    let end = ship(item, count).on(cx).await?;
    Ok(Final::new(end).save(shipped + count))
}

/// Returns the entrypoint as a graph.
pub fn order_graph() -> Result<CompiledStateGraph<OrderState>, CompilationErrors> {
    order.compile()
}
