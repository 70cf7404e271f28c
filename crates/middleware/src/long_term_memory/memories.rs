//! Memories in a store.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use langgraph::node::Context;
use langgraph_store::{ContextExt as _, Item, Namespace, StoreError, StoreExt as _};
use serde::{Deserialize, Serialize};

/// One memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Memory {
    /// Its key in the store.
    pub id: String,
    /// What is remembered.
    pub text: String,
}

impl Memory {
    /// A line for a model.
    pub(super) fn line(&self) -> String {
        format!("\n- {} (id {})", self.text, self.id)
    }
}

/// The value of a memory in the store.
#[derive(Serialize, Deserialize)]
struct StoredMemory {
    text: String,
}

/// The memories of a namespace.
#[derive(Clone)]
pub(super) struct Memories {
    namespace: Arc<dyn Fn(&Context) -> Namespace + Send + Sync>,
    ttl: Option<Duration>,
}

/// The number of memories among which words are looked for.
const NEWEST: usize = 1_000;

impl Memories {
    pub(super) fn new(namespace: Arc<dyn Fn(&Context) -> Namespace + Send + Sync>) -> Self {
        Self {
            namespace,
            ttl: None,
        }
    }

    pub(super) fn expiring(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Returns the memories of one namespace.
    pub(super) fn in_namespace(mut self, namespace: Namespace) -> Self {
        self.namespace = Arc::new(move |_| namespace.clone());
        self
    }

    /// Returns the namespace of a run.
    pub(super) fn namespace(&self, cx: &Context) -> Namespace {
        (self.namespace)(cx)
    }

    /// Saves a memory under a key that only its text determines, and returns it.
    pub(super) async fn save(&self, text: &str, cx: &Context) -> Result<Memory, StoreError> {
        let text = text.trim();
        let id = digest(&text.to_lowercase());
        let value = StoredMemory {
            text: text.to_owned(),
        };
        let put = cx.store()?.put(self.namespace(cx), &*id, &value);
        match self.ttl {
            Some(ttl) => put.ttl(ttl).await?,
            None => put.await?,
        }
        Ok(Memory {
            id,
            text: value.text,
        })
    }

    /// Removes a memory, and returns whether it existed.
    pub(super) async fn forget(&self, id: &str, cx: &Context) -> Result<bool, StoreError> {
        cx.store()?.delete(self.namespace(cx), id).await
    }

    /// Returns the memories that fit a text best.
    pub(super) async fn search(
        &self,
        text: &str,
        limit: usize,
        cx: &Context,
    ) -> Result<Vec<Memory>, StoreError> {
        let (store, namespace) = (cx.store()?, self.namespace(cx));
        if !text.trim().is_empty() {
            let near = store.search(namespace.clone()).query(text).limit(limit);
            match near.await {
                Err(StoreError::NoEmbedder) => {}
                found => return found?.iter().map(memory).collect(),
            }
        }
        let newest = store.search(namespace.clone()).limit(NEWEST).refresh(false);
        let mut found: Vec<(usize, Memory)> = Vec::new();
        let wanted = words(text);
        for item in newest.await? {
            let memory = memory(&item)?;
            found.push((words(&memory.text).intersection(&wanted).count(), memory));
        }
        // Of those that fit as well, the newest come first.
        found.sort_by_key(|(fits, _)| Reverse(*fits));
        found.truncate(limit);
        for (_, memory) in &found {
            store.get(namespace.clone(), &*memory.id).await?;
        }
        Ok(found.into_iter().map(|(_, memory)| memory).collect())
    }
}

fn memory(item: &Item) -> Result<Memory, StoreError> {
    let value: StoredMemory = item.value_as()?;
    Ok(Memory {
        id: item.key.clone(),
        text: value.text,
    })
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| word.chars().count() > 2);
    words.map(str::to_lowercase).collect()
}

/// Returns a short name that only this text determines.
pub(super) fn digest(text: &str) -> String {
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    digest.iter().take(6).fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}"); // never fails
        id
    })
}
