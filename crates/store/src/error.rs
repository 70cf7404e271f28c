//! Errors of stores.

use std::error::Error;

use crate::embed::EmbedError;
use crate::{FieldPath, Namespace};

/// Why a read or write of a store failed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A node asked for the store, and neither the graph nor the run has one.
    #[error(
        "there is no store; give one to the graph with `.compile()?.store(Arc::new(MemoryStore::new()))`, or to the run with `.store(..)`"
    )]
    NoStore,
    /// A namespace cannot be written to.
    #[error("namespace `{namespace}`: {problem}")]
    InvalidNamespace {
        /// The namespace.
        namespace: Namespace,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A key cannot be used.
    #[error("key `{key}` of namespace `{namespace}`: {problem}")]
    InvalidKey {
        /// The namespace.
        namespace: Namespace,
        /// The key.
        key: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A value cannot be stored.
    #[error("the value of `{key}` in namespace `{namespace}` cannot be stored: {problem}")]
    InvalidValue {
        /// The namespace.
        namespace: Namespace,
        /// The key.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A field path cannot be read.
    #[error(
        "`{0}` is no field path; write `name`, `address.city`, `tags[0]`, `tags[-1]`, `tags[*]`, `$`, or give the keys with `FieldPath::keys`"
    )]
    InvalidPath(FieldPath),
    /// A search is contradictory.
    #[error("the search cannot be made: {0}")]
    InvalidSearch(&'static str),
    /// A time to live that expires at once.
    #[error("a time to live of zero: the item would never be seen; use `.delete(..)`")]
    InvalidTtl,
    /// A search by meaning in a store without an embedder.
    #[error(
        "a search with `.query(..)` needs an embedder; give the store one with `StoreOptions::embedder`"
    )]
    NoEmbedder,
    /// The embedder failed.
    #[error("the embedder failed: {0}")]
    Embedding(#[source] EmbedError),
    /// The embedder's answer is invalid.
    #[error("the embedder's answer cannot be used: {0}")]
    BadEmbedding(String),
    /// An item was embedded with another model.
    #[error(
        "item `{key}` of namespace `{namespace}` was embedded with {found} dimensions, and the embedder makes {expected}; put it again, or use the embedder it was put with"
    )]
    WrongDimensions {
        /// The namespace.
        namespace: Namespace,
        /// The key.
        key: String,
        /// The dimensions of the item's vectors.
        found: usize,
        /// The dimensions of the query's vector.
        expected: usize,
    },
    /// A stored value does not have the requested type.
    #[error("the value of `{key}` in namespace `{namespace}` is no `{wanted}`: {source}")]
    Decode {
        /// The namespace.
        namespace: Namespace,
        /// The key.
        key: String,
        /// The type.
        wanted: &'static str,
        /// What is missing or wrong.
        source: serde_json::Error,
    },
    /// The store does not support an operation.
    #[error("this store does not support {0}")]
    Unsupported(String),
    /// The storage failed.
    #[error("store: {0}")]
    Storage(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Creates a failure of the storage.
    pub fn storage(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Storage(error.into())
    }
}

langgraph_core::debug_is_message!(StoreError);
