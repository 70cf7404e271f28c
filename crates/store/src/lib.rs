//! Long-term memory, which outlives a thread.
//!
//! A [`Store`] keeps JSON values under a [`Namespace`] and a key. Threads have their own memory,
//! the checkpoints. A store holds what all threads share: a user's preferences, facts, documents.
//!
//! [`graph.store(..)`](WithStore::store) attaches one to a graph or to a run. Nodes, tools and
//! subgraphs reach it with [`cx.store()`](ContextExt::store). [`MemoryStore`] is here; SQLite and
//! PostgreSQL are in `langgraph-sqlite` and `langgraph-postgres`. `langgraph-conformance` tests a
//! store of your own.
//!
//! # Examples
//!
//! ```
//! use std::sync::Arc;
//! use langgraph::prelude::*;
//! use langgraph_store::prelude::*;
//!
//! #[derive(State, Clone, Debug, Default)]
//! struct Chat {
//!     user: String,
//!     said: String,
//!     answer: String,
//! }
//!
//! #[node]
//! async fn greet(chat: &Chat, cx: &Context) -> Result<ChatUpdate, StoreError> {
//!     let store = cx.store()?;
//!     if let Some(name) = chat.said.strip_prefix("I am ") {
//!         store.put(["users", &chat.user], "name", name).await?;
//!     }
//!     let name: Option<String> = store.get_as(["users", &chat.user], "name").await?;
//!     let name = name.unwrap_or_else(|| "friend".to_owned());
//!     Ok(ChatUpdate::default().answer(format!("Hello, {name}")))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = graph! { type State = Chat; START => greet => END };
//! let graph = graph.compile()?.store(Arc::new(MemoryStore::new()));
//!
//! let hello = |user: &str, said: &str| {
//!     ChatUpdate::default().user(user.into()).said(said.into())
//! };
//! assert_eq!(graph.invoke(hello("u-1", "I am Ada")).await?.answer, "Hello, Ada");
//! assert_eq!(graph.invoke(hello("u-1", "hi")).await?.answer, "Hello, Ada");
//! assert_eq!(graph.invoke(hello("u-2", "hi")).await?.answer, "Hello, friend");
//! # Ok(())
//! # }
//! ```
//!
//! # Searching
//!
//! [`search`](StoreExt::search) finds items in and below a namespace: those that pass a [`Filter`],
//! newest first; or, if the store has an [`Embedder`], those nearest to a query in meaning.
//!
//! ```
//! use langgraph_store::{Filter, HashingEmbedder, MemoryStore, StoreExt, StoreOptions};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = StoreOptions::default().embedder(HashingEmbedder::new(256)).fields(["text"]);
//! let store = MemoryStore::with(options);
//! let notes = ["users", "u-1", "notes"];
//! store.put(notes, "1", &json!({"text": "tea without milk", "year": 2023})).await?;
//! store.put(notes, "2", &json!({"text": "the cat is called Ada", "year": 2025})).await?;
//!
//! let recent = store.search(["users", "u-1"]).filter(Filter::ge("year", 2024)).await?;
//! assert_eq!(recent[0].key, "2");
//!
//! let near = store.search(["users"]).query("what is the cat called").limit(1).await?;
//! assert_eq!(near[0].key, "2");
//! assert!(near[0].score.is_some_and(|score| score > 0.5));
//! # Ok(())
//! # }
//! ```
//!
//! # Expiry
//!
//! An item expires when its time to live is over, even if it is still on the disk: no operation
//! returns it, counts it or lists its namespace. Reading an item restarts its time to live, unless
//! [`StoreOptions::refresh_on_read`] or the call says otherwise. Stores remove a few expired items
//! on each write; [`Store::sweep`] removes all of them.
//!
//! # Features
//!
//! - `graph` (on by default): attaches a store to graphs, and gives it to their nodes.

#[cfg(feature = "graph")]
mod attach;
mod clock;
mod embed;
mod error;
mod ext;
mod filter;
mod item;
mod memory;
mod namespace;
mod op;
mod options;
mod path;

/// The attribute for an `impl` of [`Store`] or [`Embedder`], whose methods are `async fn`.
pub use async_trait::async_trait;

#[cfg(feature = "graph")]
pub use attach::{ContextExt, WithStore};
pub use clock::{Clock, ManualClock, SystemClock};
pub use embed::{EmbedError, Embedder, HashingEmbedder, similarity};
pub use error::StoreError;
pub use ext::{Request, StoreExt, StoreFuture};
pub use filter::{Bound, Filter, Scalar, Test};
pub use item::Item;
pub use memory::MemoryStore;
pub use namespace::{Label, Namespace};
pub use op::{Answer, Delete, Get, Indexing, ListNamespaces, Op, Put, Search, Store, Ttl};
pub use options::{Prepared, StoreOptions};
pub use path::{FieldPath, Segment};

/// What most programs import: `use langgraph_store::prelude::*;`, beside that of `langgraph`.
///
/// It holds the store in memory, and the traits that attach, reach and call a store.
pub mod prelude {
    #[cfg(feature = "graph")]
    pub use crate::{ContextExt as _, WithStore as _};
    pub use crate::{MemoryStore, Store, StoreError, StoreExt};
}
