//! The operations of a store, and their answers.

use std::time::Duration;

use async_trait::async_trait;
use langgraph_core::checkpoint::Limits;
use serde::Serialize;
use serde_json::Value;

use crate::{FieldPath, Filter, Item, Label, Namespace, StoreError};

/// A store of values beyond threads. Programs call it through [`StoreExt`](crate::StoreExt).
///
/// To implement one, start with [`StoreOptions::prepare`](crate::StoreOptions::prepare), which
/// checks the operations, fills in the defaults and calls the embedder. Write
/// [`#[async_trait]`](macro@crate::async_trait) above the `impl`, and test it with
/// `langgraph_conformance::store`.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Executes the operations in order, and returns an answer for each.
    ///
    /// The batch is one transaction: each operation sees the effects of those before it, and other
    /// batches see all effects or none.
    ///
    /// # Errors
    ///
    /// If one operation fails, none takes effect.
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, StoreError>;

    /// Removes expired items, and returns their number.
    async fn sweep(&self) -> Result<usize, StoreError>;
}

/// An operation of a store.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// Reads an item; the answer is [`Answer::Item`].
    Get(Get),
    /// Stores a value; the answer is [`Answer::Done`].
    Put(Put),
    /// Removes an item; the answer is [`Answer::Deleted`].
    Delete(Delete),
    /// Finds items; the answer is [`Answer::Items`].
    Search(Search),
    /// Lists namespaces; the answer is [`Answer::Namespaces`].
    ListNamespaces(ListNamespaces),
}

/// The answer to an operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The item, if it exists.
    Item(Option<Item>),
    /// The value is stored.
    Done,
    /// Whether the item existed.
    Deleted(bool),
    /// The items found.
    Items(Vec<Item>),
    /// The namespaces, sorted.
    Namespaces(Vec<Namespace>),
}

/// Reads an item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Get {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its key.
    pub key: String,
    /// Whether the read restarts its time to live; `None` means the store's setting.
    pub refresh: Option<bool>,
}

/// Stores a value. It replaces the old one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Put {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// Its time to live.
    pub ttl: Ttl,
    /// What to embed of it.
    pub indexing: Indexing,
}

/// How long an item lives after it was written, or read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// The store's setting.
    #[default]
    Default,
    /// No expiry.
    Never,
    /// This long.
    After(Duration),
}

/// The fields of a value to embed, for searches by meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Indexing {
    /// The fields of the store's setting.
    #[default]
    Default,
    /// None: searches with a query do not find the item.
    Off,
    /// These fields.
    Fields(Vec<FieldPath>),
}

/// Removes an item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Delete {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its key.
    pub key: String,
}

/// Finds the items in a namespace and below.
///
/// Without a query, the items stored last come first. With a query, only embedded items are found,
/// and the nearest come first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Search {
    /// The namespace to search.
    pub prefix: Namespace,
    /// The filter for their content.
    pub filter: Option<Filter>,
    /// The text to compare their meaning with.
    pub query: Option<String>,
    /// The minimum similarity to the query.
    pub min_score: Option<f32>,
    /// The maximum number of items; the default is 10.
    pub limit: usize,
    /// The number of items to skip.
    pub offset: usize,
    /// Whether the search restarts their time to live; `None` means the store's setting.
    pub refresh: Option<bool>,
}

/// Lists the namespaces that hold items, sorted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListNamespaces {
    /// The labels that they begin with.
    pub prefix: Vec<Label>,
    /// The labels that they end with.
    pub suffix: Vec<Label>,
    /// Cuts longer namespaces to this many labels, and returns each result once.
    pub max_depth: Option<usize>,
    /// The maximum number of namespaces; the default is 100.
    pub limit: usize,
    /// The number of namespaces to skip.
    pub offset: usize,
}

impl Get {
    /// Creates a read of an item.
    pub fn new(namespace: impl Into<Namespace>, key: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            key: key.into(),
            refresh: None,
        }
    }
}

/// What JSON restores. Integer keys of maps are allowed: the requested type says that they are
/// integers.
const RESTORED: Limits = Limits::new("JSON")
    .finite_numbers()
    .null_is_none()
    .depth(127);

impl Put {
    /// Creates a write of a JSON value.
    pub fn new(
        namespace: impl Into<Namespace>,
        key: impl Into<String>,
        value: impl Into<Value>,
    ) -> Self {
        Self {
            namespace: namespace.into(),
            key: key.into(),
            value: value.into(),
            ttl: Ttl::Default,
            indexing: Indexing::Default,
        }
    }

    /// Creates a write of any serializable value.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidValue`], with the place in the value, if JSON would change it: for
    /// example a NaN, or a map whose keys are pairs.
    pub fn of(
        namespace: impl Into<Namespace>,
        key: impl Into<String>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Self, StoreError> {
        let (namespace, key) = (namespace.into(), key.into());
        let written = match RESTORED.check(&value) {
            Ok(()) => serde_json::to_value(value).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match written {
            Ok(value) => Ok(Self::new(namespace, key, value)),
            Err(problem) => Err(StoreError::InvalidValue {
                namespace,
                key,
                problem,
            }),
        }
    }
}

impl Delete {
    /// Creates a removal of an item.
    pub fn new(namespace: impl Into<Namespace>, key: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            key: key.into(),
        }
    }
}

impl Search {
    /// Creates a search for the first ten items in `prefix` and below.
    pub fn new(prefix: impl Into<Namespace>) -> Self {
        Self {
            prefix: prefix.into(),
            filter: None,
            query: None,
            min_score: None,
            limit: 10,
            offset: 0,
            refresh: None,
        }
    }
}

impl Default for ListNamespaces {
    fn default() -> Self {
        Self {
            prefix: Vec::new(),
            suffix: Vec::new(),
            max_depth: None,
            limit: 100,
            offset: 0,
        }
    }
}

impl ListNamespaces {
    /// Returns true if a namespace has that beginning and end.
    pub fn fits(&self, namespace: &Namespace) -> bool {
        let labels = namespace.labels();
        let fit = |pattern: &[Label], labels: &[String]| {
            pattern
                .iter()
                .zip(labels)
                .all(|(wanted, label)| wanted.fits(label))
        };
        let from = labels.len().checked_sub(self.suffix.len());
        labels.len() >= self.prefix.len()
            && fit(&self.prefix, labels)
            && from
                .and_then(|from| labels.get(from..))
                .is_some_and(|end| fit(&self.suffix, end))
    }

    /// Filters, cuts, sorts and pages all namespaces that hold items.
    pub fn answer(&self, namespaces: impl IntoIterator<Item = Namespace>) -> Vec<Namespace> {
        let depth = self.max_depth.unwrap_or(usize::MAX);
        let fitting = namespaces.into_iter().filter(|one| self.fits(one));
        let distinct: std::collections::BTreeSet<Namespace> =
            fitting.map(|one| one.truncated(depth)).collect();
        distinct
            .into_iter()
            .skip(self.offset)
            .take(self.limit)
            .collect()
    }
}

macro_rules! op_from {
    ($($request:ident),*) => {$(
        impl From<$request> for Op {
            fn from(request: $request) -> Self {
                Self::$request(request)
            }
        }
    )*};
}

op_from!(Get, Put, Delete, Search, ListNamespaces);
