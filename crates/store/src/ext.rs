//! The methods by which programs call a store.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{
    Answer, Delete, FieldPath, Filter, Get, Indexing, Item, Label, ListNamespaces, Namespace, Op,
    Put, Search, Store, StoreError, Ttl,
};

/// The methods by which programs call a store. Each returns a [`Request`]: set its options, if any,
/// then await it.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use langgraph_store::{MemoryStore, StoreExt};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct Taste {
///     drink: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let taste = Taste { drink: "tea".into() };
/// store.put(["users", "u-1"], "taste", &taste).ttl(Duration::from_secs(3600)).await?;
///
/// assert_eq!(store.get_as(["users", "u-1"], "taste").await?, Some(taste));
/// assert_eq!(store.search(["users"]).limit(5).await?.len(), 1);
/// assert!(store.delete(["users", "u-1"], "taste").await?);
/// # Ok(())
/// # }
/// ```
pub trait StoreExt: Store {
    /// Returns the item under that key, if any.
    fn get(
        &self,
        namespace: impl Into<Namespace>,
        key: impl Into<String>,
    ) -> Request<'_, Self, Get> {
        Request::new(self, Get::new(namespace, key))
    }

    /// Returns the value under that key as a `T`, if any.
    ///
    /// # Errors
    ///
    /// [`StoreError::Decode`] if the value is not a `T`.
    fn get_as<T: DeserializeOwned>(
        &self,
        namespace: impl Into<Namespace>,
        key: impl Into<String>,
    ) -> impl Future<Output = Result<Option<T>, StoreError>> + Send {
        let item = self.get(namespace, key).into_future();
        async move { item.await?.map(|item| item.value_as()).transpose() }
    }

    /// Stores a value under that key. It replaces the old value.
    fn put(
        &self,
        namespace: impl Into<Namespace>,
        key: impl Into<String>,
        value: &(impl Serialize + ?Sized),
    ) -> Request<'_, Self, Put> {
        Request {
            store: self,
            request: Put::of(namespace, key, value),
        }
    }

    /// Removes the item under that key, and returns whether it existed.
    fn delete(
        &self,
        namespace: impl Into<Namespace>,
        key: impl Into<String>,
    ) -> Request<'_, Self, Delete> {
        Request::new(self, Delete::new(namespace, key))
    }

    /// Returns the items in `prefix` and below; by default the ten newest.
    fn search(&self, prefix: impl Into<Namespace>) -> Request<'_, Self, Search> {
        Request::new(self, Search::new(prefix))
    }

    /// Returns the namespaces that hold items; by default the first hundred.
    fn list_namespaces(&self) -> Request<'_, Self, ListNamespaces> {
        Request::new(self, ListNamespaces::default())
    }
}

impl<T: Store + ?Sized> StoreExt for T {}

/// A request to a store. Set its options, then await it.
///
/// # Cancel safety
///
/// Dropping the future stops waiting; a database may still complete a write that has begun.
#[must_use = "a request does nothing until it is awaited"]
pub struct Request<'a, St: ?Sized, R> {
    store: &'a St,
    request: Result<R, StoreError>,
}

impl<'a, St: ?Sized, R> Request<'a, St, R> {
    fn new(store: &'a St, request: R) -> Self {
        Self {
            store,
            request: Ok(request),
        }
    }

    fn set(mut self, set: impl FnOnce(&mut R)) -> Self {
        if let Ok(request) = &mut self.request {
            set(request);
        }
        self
    }
}

impl<St: ?Sized> Request<'_, St, Get> {
    /// Sets whether reading restarts the item's time to live. Overrides the store's setting.
    pub fn refresh(self, refresh: bool) -> Self {
        self.set(|get| get.refresh = Some(refresh))
    }
}

impl<St: ?Sized> Request<'_, St, Put> {
    /// Sets the item's time to live. Overrides the store's setting.
    pub fn ttl(self, ttl: Duration) -> Self {
        self.set(|put| put.ttl = Ttl::After(ttl))
    }

    /// Stores the item without expiry. Overrides the store's setting.
    pub fn for_ever(self) -> Self {
        self.set(|put| put.ttl = Ttl::Never)
    }

    /// Sets which fields are embedded. Overrides the store's setting.
    pub fn fields<T: Into<FieldPath>>(self, fields: impl IntoIterator<Item = T>) -> Self {
        let fields = fields.into_iter().map(Into::into).collect();
        self.set(|put| put.indexing = Indexing::Fields(fields))
    }

    /// Excludes the item from searches by meaning.
    pub fn not_embedded(self) -> Self {
        self.set(|put| put.indexing = Indexing::Off)
    }
}

impl<St: ?Sized> Request<'_, St, Search> {
    /// Returns only items that pass the filter. With two calls, items must pass both filters.
    pub fn filter(self, filter: Filter) -> Self {
        self.set(|search| {
            search.filter = Some(match search.filter.take() {
                Some(first) => first.and(filter),
                None => filter,
            });
        })
    }

    /// Returns the items nearest to `query` in meaning, nearest first. The store needs an
    /// [`Embedder`](crate::Embedder).
    pub fn query(self, query: impl Into<String>) -> Self {
        let query = query.into();
        self.set(|search| search.query = Some(query))
    }

    /// Returns only items with at least this score.
    pub fn min_score(self, score: f32) -> Self {
        self.set(|search| search.min_score = Some(score))
    }

    /// Limits the number of items; the default is 10.
    pub fn limit(self, items: usize) -> Self {
        self.set(|search| search.limit = items)
    }

    /// Skips that many items.
    pub fn offset(self, items: usize) -> Self {
        self.set(|search| search.offset = items)
    }

    /// Sets whether finding items restarts their time to live. Overrides the store's setting.
    pub fn refresh(self, refresh: bool) -> Self {
        self.set(|search| search.refresh = Some(refresh))
    }
}

impl<St: ?Sized> Request<'_, St, ListNamespaces> {
    /// Returns only namespaces that begin with these labels; `"*"` is any label.
    pub fn prefix<T: Into<Label>>(self, labels: impl IntoIterator<Item = T>) -> Self {
        let labels = labels.into_iter().map(Into::into).collect();
        self.set(|list| list.prefix = labels)
    }

    /// Returns only namespaces that end with these labels; `"*"` is any label.
    pub fn suffix<T: Into<Label>>(self, labels: impl IntoIterator<Item = T>) -> Self {
        let labels = labels.into_iter().map(Into::into).collect();
        self.set(|list| list.suffix = labels)
    }

    /// Cuts longer namespaces to that many labels, and returns each result once.
    pub fn max_depth(self, labels: usize) -> Self {
        self.set(|list| list.max_depth = Some(labels))
    }

    /// Limits the number of namespaces; the default is 100.
    pub fn limit(self, namespaces: usize) -> Self {
        self.set(|list| list.limit = namespaces)
    }

    /// Skips that many namespaces.
    pub fn offset(self, namespaces: usize) -> Self {
        self.set(|list| list.offset = namespaces)
    }
}

/// The future of a [`Request`].
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// An operation on a store, with the type of its answer.
trait Operation: Into<Op> {
    type Answer;

    /// Returns `None` for the answer to another operation.
    fn read(answer: Answer) -> Option<Self::Answer>;
}

macro_rules! operations {
    ($($request:ident: $answer:ty = $pattern:pat => $value:expr;)*) => {$(
        impl Operation for $request {
            type Answer = $answer;

            fn read(answer: Answer) -> Option<$answer> {
                match answer {
                    $pattern => Some($value),
                    _ => None,
                }
            }
        }

        impl<'a, St: Store + ?Sized> IntoFuture for Request<'a, St, $request> {
            type Output = Result<$answer, StoreError>;
            type IntoFuture = StoreFuture<'a, $answer>;

            fn into_future(self) -> Self::IntoFuture {
                ask(self)
            }
        }
    )*};
}

operations! {
    Get: Option<Item> = Answer::Item(item) => item;
    Put: () = Answer::Done => ();
    Delete: bool = Answer::Deleted(deleted) => deleted;
    Search: Vec<Item> = Answer::Items(items) => items;
    ListNamespaces: Vec<Namespace> = Answer::Namespaces(namespaces) => namespaces;
}

fn ask<'a, St: Store + ?Sized, R: Operation>(
    request: Request<'a, St, R>,
) -> StoreFuture<'a, R::Answer>
where
    R::Answer: 'a,
{
    let answer = request
        .request
        .map(|op| request.store.batch(vec![op.into()]));
    Box::pin(async move {
        let answers = answer?.await?;
        let answer = answers.into_iter().next().and_then(R::read);
        answer.ok_or_else(|| StoreError::storage("the store gave no fitting answer"))
    })
}

impl<St: ?Sized, R: fmt::Debug> fmt::Debug for Request<'_, St, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
