//! What a store is asked, and what it answers.

use std::time::Duration;

use async_trait::async_trait;
use langgraph_strict_serde::Limits;
use serde::Serialize;
use serde_json::Value;

use crate::{FieldPath, Filter, Item, Label, Namespace, StoreError};

/// Keeps values beyond threads. Programs call it through [`StoreExt`](crate::StoreExt).
///
/// To write one, begin with [`StoreOptions::prepare`](crate::StoreOptions::prepare), which checks
/// the operations, fills in the defaults and calls the embedder; write
/// [`#[async_trait]`](macro@crate::async_trait) above the `impl`; and hold it to
/// `langgraph_conformance::store`.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Does what it is asked, in that order, and answers each.
    ///
    /// Each operation sees what those before it did, and nobody else sees a part of it: it is one
    /// transaction.
    ///
    /// # Errors
    ///
    /// When one of them cannot be done. Then none is.
    async fn batch(&self, ops: Vec<Op>) -> Result<Vec<Answer>, StoreError>;

    /// Removes what has expired, and says how many items that were.
    async fn sweep(&self) -> Result<usize, StoreError>;
}

/// One thing that a store is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// To give an item; the answer is [`Answer::Item`].
    Get(Get),
    /// To keep a value; the answer is [`Answer::Done`].
    Put(Put),
    /// To remove an item; the answer is [`Answer::Deleted`].
    Delete(Delete),
    /// To find items; the answer is [`Answer::Items`].
    Search(Search),
    /// To list namespaces; the answer is [`Answer::Namespaces`].
    ListNamespaces(ListNamespaces),
}

/// What a store answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The item, if there is one.
    Item(Option<Item>),
    /// The value is kept.
    Done,
    /// Whether there was such an item.
    Deleted(bool),
    /// The items that were found.
    Items(Vec<Item>),
    /// The namespaces, in their order.
    Namespaces(Vec<Namespace>),
}

/// Asks for an item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Get {
    /// Where it is.
    pub namespace: Namespace,
    /// Its name there.
    pub key: String,
    /// Whether its time to live starts anew; as the store is set, when none.
    pub refresh: Option<bool>,
}

/// Asks to keep a value, in place of what was there.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Put {
    /// Where to.
    pub namespace: Namespace,
    /// Its name there.
    pub key: String,
    /// The value.
    pub value: Value,
    /// How long it lives.
    pub ttl: Ttl,
    /// What of it is embedded.
    pub indexing: Indexing,
}

/// How long an item lives after it was put, or read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// As the store is set.
    #[default]
    Default,
    /// For ever.
    Never,
    /// So long.
    After(Duration),
}

/// Which fields of a value are embedded, for searches by meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Indexing {
    /// Those that the store is set to.
    #[default]
    Default,
    /// None: a search with a query does not find it.
    Off,
    /// These.
    Fields(Vec<FieldPath>),
}

/// Asks to remove an item.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Delete {
    /// Where it is.
    pub namespace: Namespace,
    /// Its name there.
    pub key: String,
}

/// Asks for the items in a namespace and below.
///
/// Without a query the newest come first, that is those whose value was put last; with one, those
/// that come nearest to it, and only those that are embedded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Search {
    /// Where to look.
    pub prefix: Namespace,
    /// What they hold.
    pub filter: Option<Filter>,
    /// What they are about.
    pub query: Option<String>,
    /// How near to the query they must come.
    pub min_score: Option<f32>,
    /// How many at most; 10 unless set.
    pub limit: usize,
    /// How many to leave out first.
    pub offset: usize,
    /// Whether the time to live of what is found starts anew; as the store is set, when none.
    pub refresh: Option<bool>,
}

/// Asks for the namespaces that hold items, in their order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListNamespaces {
    /// What they begin with.
    pub prefix: Vec<Label>,
    /// What they end with.
    pub suffix: Vec<Label>,
    /// Longer ones are cut to so many labels, and named once.
    pub max_depth: Option<usize>,
    /// How many at most; 100 unless set.
    pub limit: usize,
    /// How many to leave out first.
    pub offset: usize,
}

impl Get {
    /// Asks for an item.
    pub fn new(namespace: impl Into<Namespace>, key: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            key: key.into(),
            refresh: None,
        }
    }
}

/// What JSON gives back as it was. Integers as the keys of maps are fine: the type that is asked
/// for says that they are integers.
const RESTORED: Limits = Limits::new("JSON")
    .finite_numbers()
    .null_is_none()
    .depth(127);

impl Put {
    /// Asks to keep a JSON value.
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

    /// Asks to keep anything that serializes.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidValue`], with the place in the value, when it would not come back from
    /// JSON as it was: it holds a NaN, say, or a map whose keys are pairs.
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
    /// Asks to remove an item.
    pub fn new(namespace: impl Into<Namespace>, key: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            key: key.into(),
        }
    }
}

impl Search {
    /// Asks for the first ten items in `prefix` and below.
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
    /// True when a namespace has that beginning and that end.
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

    /// Picks, cuts, sorts and pages: the answer, of all the namespaces that hold items.
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
