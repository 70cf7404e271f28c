//! The question for more.

use serde::{Deserialize, Serialize};

use crate::BudgetItem;
use langgraph::interrupt::Interrupt;

/// The interrupt of a spent [`Budget`](crate::Budget) under [`AtLimit::Ask`](crate::AtLimit::Ask):
/// the payload of the [`Interrupt`]. The answer is a [`BudgetAnswer`].
///
/// # Wire form
///
/// `{"type": "budget_exceeded", "account", "item", "limit", "spent", "needs"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "budget_exceeded")]
#[non_exhaustive]
pub struct BudgetRequest {
    /// The account.
    pub account: String,
    /// What is spent.
    pub item: BudgetItem,
    /// The limit.
    pub limit: u64,
    /// What is spent or reserved.
    pub spent: u64,
    /// What the next call may need.
    pub needs: u64,
}

impl BudgetRequest {
    /// Reads the request from an interrupt, if the interrupt is one.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.payload.get("type")? != "budget_exceeded" {
            return None;
        }
        Self::deserialize(&interrupt.payload).ok()
    }
}

/// The answer to a [`BudgetRequest`].
///
/// # Wire form
///
/// `{"type": "more", "amount": 1000}`, `{"type": "stop"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BudgetAnswer {
    /// The account may spend that much more.
    More {
        /// In the unit of the item.
        amount: u64,
    },
    /// The node fails with [`BudgetExceeded`](crate::BudgetExceeded).
    Stop,
}

impl BudgetAnswer {
    /// The account may spend `amount` more.
    pub fn more(amount: u64) -> Self {
        Self::More { amount }
    }
}
