//! Where accounts are kept.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::Account;
use langgraph::error::NodeError;

/// Keeps the accounts of a [`Budget`](crate::Budget). A budget reads and writes an account while it
/// holds a lock of its own; several processes that share accounts need one thread, or one customer,
/// at a time in one process.
///
/// # Examples
///
/// Over anything that stores JSON under a key:
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_budget::{Account, Ledger, async_trait};
/// # use std::{collections::HashMap, sync::Mutex};
/// # #[derive(Default)]
/// # struct Table(Mutex<HashMap<String, String>>);
/// # impl Table {
/// #     async fn get(&self, key: &str) -> Result<Option<String>, std::io::Error> { Ok(self.0.lock().unwrap().get(key).cloned()) }
/// #     async fn set(&self, key: &str, json: String) -> Result<(), std::io::Error> { self.0.lock().unwrap().insert(key.into(), json); Ok(()) }
/// # }
///
/// #[async_trait]
/// impl Ledger for Table {
///     async fn read(&self, key: &str) -> Result<Account, NodeError> {
///         let json = self.get(key).await?;
///         Ok(json.map_or(Ok(Account::default()), |json| serde_json::from_str(&json))?)
///     }
///
///     async fn write(&self, key: &str, account: &Account) -> Result<(), NodeError> {
///         Ok(self.set(key, serde_json::to_string(account)?).await?)
///     }
/// }
/// ```
#[async_trait]
pub trait Ledger: Send + Sync + 'static {
    /// Returns the account; an empty one if there is none.
    async fn read(&self, key: &str) -> Result<Account, NodeError>;

    /// Stores the account.
    async fn write(&self, key: &str, account: &Account) -> Result<(), NodeError>;
}

/// Accounts in memory. Those that nothing was written to for a day are dropped as others come.
#[derive(Default)]
pub struct MemoryLedger(Mutex<Accounts>);

#[derive(Default)]
struct Accounts {
    kept: HashMap<String, (Account, Instant)>,
    /// The number of accounts at which idle ones are dropped.
    sweep_at: usize,
}

const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

impl MemoryLedger {
    /// Creates an empty ledger.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Ledger for MemoryLedger {
    async fn read(&self, key: &str) -> Result<Account, NodeError> {
        let accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(accounts
            .kept
            .get(key)
            .map(|(account, _)| account.clone())
            .unwrap_or_default())
    }

    async fn write(&self, key: &str, account: &Account) -> Result<(), NodeError> {
        let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.kept.len() >= accounts.sweep_at {
            accounts
                .kept
                .retain(|_, (_, written)| written.elapsed() < IDLE);
            accounts.sweep_at = (2 * accounts.kept.len()).max(1024);
        }
        accounts
            .kept
            .insert(key.to_owned(), (account.clone(), Instant::now()));
        Ok(())
    }
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryLedger")
    }
}
