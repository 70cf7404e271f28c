//! Accounts in a store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use langgraph::error::NodeError;
use langgraph_store::{Namespace, Store, StoreExt as _};

use crate::{Account, Ledger};

/// Keeps accounts in a store, such as those for SQLite and PostgreSQL: they survive a restart.
///
/// A budget locks its accounts within its process. Let one process at a time spend from an account.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph_budget::{Budget, StoreLedger};
/// use langgraph_store::MemoryStore;
///
/// let store = Arc::new(MemoryStore::new()); // or a store in a database
/// let budget = Budget::per_thread().model_calls(100).ledger(StoreLedger::new(store));
/// # let _ = budget;
/// ```
pub struct StoreLedger {
    store: Arc<dyn Store>,
    namespace: Namespace,
}

impl StoreLedger {
    /// Keeps the accounts under the namespace `budget`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            namespace: Namespace::from(["budget"]),
        }
    }

    /// Keeps the accounts under another namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<Namespace>) -> Self {
        self.namespace = namespace.into();
        self
    }
}

#[async_trait]
impl Ledger for StoreLedger {
    async fn read(&self, key: &str) -> Result<Account, NodeError> {
        let account = self.store.get_as(self.namespace.clone(), key).await?;
        Ok(account.unwrap_or_default())
    }

    async fn write(&self, key: &str, account: &Account) -> Result<(), NodeError> {
        let put = self.store.put(self.namespace.clone(), key, account);
        Ok(put.not_embedded().await?)
    }
}

impl fmt::Debug for StoreLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLedger")
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}
