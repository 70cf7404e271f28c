//! The agent of `docs/production.md`: a desk that looks up orders and pays them back.

use std::time::Duration;

use langgraph_agent::prelude::*;
use langgraph_agent::{OnUnknown, ReactAgent, react_agent};

/// Looks up an order.
#[tool]
pub async fn find_order(
    /// The number on the receipt.
    number: u32,
) -> String {
    format!("order {number}: one teapot, 40 euros, paid")
}

/// Pays money back.
#[tool]
pub async fn refund(
    /// The number on the receipt.
    order: u32,
    euros: u32,
    cx: &ToolContext<'_>,
) -> Result<String, ToolError> {
    let bank = cx.resource::<Bank>()?;
    let receipt = cx
        .effect("refund")
        .with(&(order, euros))
        .on_unknown(OnUnknown::Ask)
        .run(|key| async move { bank.pay(euros, &key).await })
        .await?;
    Ok(format!("order {order}: {euros} euros paid back, {receipt}"))
}

/// The desk, on any model.
pub fn desk(model: impl ChatModel + 'static) -> ReactAgent {
    react_agent(model, (find_order, refund)).prompt("You are the refund desk.")
}

/// A bank that takes its time.
#[derive(Debug, Default)]
pub struct Bank {
    takes: Duration,
}

impl Bank {
    /// A bank that answers after `time`.
    pub fn slow(time: Duration) -> Self {
        Self { takes: time }
    }

    /// Pays, once for each key.
    pub async fn pay(&self, euros: u32, key: &str) -> Result<String, std::io::Error> {
        tokio::time::sleep(self.takes).await;
        let name = key.split(':').next().unwrap_or_default();
        Ok(format!("receipt {name}-{euros}"))
    }
}
