//! The store of replays and exports.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use langgraph_store::{Answer, Get, Op, Store, StoreError};

/// Reads another store, and writes nothing, not even that an item was read: for replays of stored threads.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use langgraph_server::DryStore;
/// use langgraph_store::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let store = MemoryStore::new();
/// store.put(["codes"], "ada", "1234").await?;
///
/// let dry = DryStore::new(Arc::new(store));
/// dry.put(["codes"], "ada", "0000").await?;
/// let code: Option<String> = dry.get_as(["codes"], "ada").await?;
/// assert_eq!(code.as_deref(), Some("1234"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct DryStore(Arc<dyn Store>);

impl DryStore {
    /// Creates a store that reads `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }
}

impl fmt::Debug for DryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DryStore").finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for DryStore {
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, StoreError> {
        let is_delete: Vec<bool> = ops.iter().map(|op| matches!(op, Op::Delete(_))).collect();
        let mut answers = Vec::with_capacity(ops.len());
        for (op, is_delete) in ops.into_iter().zip(is_delete) {
            let Some(read) = read(op) else {
                answers.push(Answer::Done);
                continue;
            };
            for answer in self.0.batch(vec![read]).await? {
                answers.push(match answer {
                    Answer::Item(item) if is_delete => Answer::Deleted(item.is_some()),
                    answer => answer,
                });
            }
        }
        Ok(answers)
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        Ok(0)
    }
}

/// Returns the read that answers an operation; `None` if it is answered without one.
fn read(op: Op) -> Option<Op> {
    match op {
        Op::Get(mut get) => {
            get.refresh = Some(false);
            Some(Op::Get(get))
        }
        Op::Search(mut search) => {
            search.refresh = Some(false);
            Some(Op::Search(search))
        }
        Op::Delete(delete) => {
            let mut get = Get::new(delete.namespace, delete.key);
            get.refresh = Some(false);
            Some(Op::Get(get))
        }
        Op::Put(_) => None,
        other => Some(other),
    }
}
