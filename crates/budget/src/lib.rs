//! What a run, a thread or a customer may spend, and what remote agents are allowed of it.
//!
//! A [`Budget`] is a resource of a graph or a run. Whatever spends, such as the models and tools of
//! `langgraph-agent`, reserves from the [`Funds`] of its run first, and settles afterwards. A remote
//! node sends an [`Allowance`] with its request: what is left. The served run has an [`Allotment`] of
//! it among its resources, and its replies say what it has spent.
//!
//! # Features
//!
//! - `store` (off by default): `StoreLedger`, accounts in a store.

mod account;
mod allotment;
mod allowance;
mod budget;
mod exceeded;
mod funds;
mod ledger;
mod prices;
mod request;
mod reservation;
#[cfg(feature = "store")]
mod store_ledger;

/// The attribute for an `impl` of [`Ledger`].
#[doc(no_inline)]
pub use async_trait::async_trait;

pub use account::{Account, Amounts, BudgetItem};
pub use allotment::Allotment;
pub use allowance::Allowance;
pub use budget::{AtLimit, Budget};
pub use exceeded::BudgetExceeded;
pub use funds::{Funds, Reserved};
pub use ledger::{Ledger, MemoryLedger};
pub use prices::{Price, Prices};
pub use request::{BudgetAnswer, BudgetRequest};
#[cfg(feature = "store")]
pub use store_ledger::StoreLedger;
