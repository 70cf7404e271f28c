//! Conversations whose memories are found after the answer.

use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::node::Context;
use langgraph_agent::StandIn;
use langgraph_store::{Namespace, Store, StoreError, StoreExt as _};
use serde::{Deserialize, Serialize};

use super::extraction::Extraction;
use super::memories::digest;
use crate::Background;

/// The namespace above those of the memories, for what is not yet read.
const UNREAD: &str = "unread conversations";

/// How often reading a conversation may fail.
const ATTEMPTS: u32 = 5;

/// A conversation in the store, until it is read.
#[derive(Serialize, Deserialize)]
struct Unread {
    chat: String,
    /// How often reading it has failed.
    #[serde(default)]
    failed: u32,
}

/// Notes a conversation in the store, and reads it in the background. Returns false if there is no background.
pub(super) async fn begin(
    chat: String,
    extraction: &Extraction,
    background: &Background,
    cx: &Context,
) -> Result<bool, NodeError> {
    let Some(store) = store(cx)? else {
        return Ok(true);
    };
    let namespace = unread(extraction, cx);
    // The same after a crash.
    let key = digest(&cx.idempotency_key("unread conversation"));
    let unread = Unread { chat, failed: 0 };
    store.put(namespace.clone(), &*key, &unread).await?;
    Ok(start(key, unread, namespace, store, extraction, background))
}

/// Reads what an earlier run, or an earlier process, has left.
pub(super) async fn resume(
    extraction: &Extraction,
    background: &Background,
    cx: &Context,
) -> Result<(), NodeError> {
    let Some(store) = store(cx)? else {
        return Ok(());
    };
    let namespace = unread(extraction, cx);
    for item in store.search(namespace.clone()).await? {
        // A user's namespace may have others below it.
        if item.namespace == namespace {
            let unread: Unread = item.value_as()?;
            let store = Arc::clone(&store);
            let key = item.key.clone();
            start(
                key,
                unread,
                namespace.clone(),
                store,
                extraction,
                background,
            );
        }
    }
    Ok(())
}

/// Returns the store; `None` in a replay, which reads nothing anew.
fn store(cx: &Context) -> Result<Option<Arc<dyn Store>>, NodeError> {
    let stand_in = cx.resource::<dyn StandIn>();
    if stand_in.is_ok_and(StandIn::is_replay) {
        return Ok(None);
    }
    let store = cx.resource_arc::<dyn Store>();
    Ok(Some(store.map_err(|_| StoreError::NoStore)?))
}

fn unread(extraction: &Extraction, cx: &Context) -> Namespace {
    let namespace = extraction.memories.namespace(cx);
    let labels = namespace.labels().iter().cloned();
    [UNREAD.to_owned()].into_iter().chain(labels).collect()
}

fn start(
    key: String,
    unread: Unread,
    namespace: Namespace,
    store: Arc<dyn Store>,
    extraction: &Extraction,
    background: &Background,
) -> bool {
    let extraction = extraction.clone();
    let active = format!("{namespace}/{key}");
    background.start(active, async move {
        // Without the store, it is read after a later run.
        let _ = read(&key, unread, &namespace, store, &extraction).await;
    })
}

/// Reads a conversation, and removes it.
async fn read(
    key: &str,
    unread: Unread,
    namespace: &Namespace,
    store: Arc<dyn Store>,
    extraction: &Extraction,
) -> Result<(), StoreError> {
    let memories = namespace.labels().iter().skip(1).cloned().collect();
    let chat = unread.chat.clone();
    let ended = extraction.run_alone(chat, memories, Arc::clone(&store));
    let failed = unread.failed + u32::from(ended.await.is_err());
    if failed > unread.failed && failed < ATTEMPTS {
        let chat = unread.chat;
        let unread = Unread { chat, failed };
        return store.put(namespace.clone(), key, &unread).await;
    }
    store.delete(namespace.clone(), key).await.map(drop)
}
