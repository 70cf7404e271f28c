//! Attaches a store to a graph or a run, and gives nodes access to it.

use std::sync::Arc;

use langgraph::graph::CompiledStateGraph;
use langgraph::node::Context;
use langgraph::run::Run;
use langgraph::state::State;

use crate::{Store, StoreError};

/// Attaches a store to a compiled graph or to a run.
///
/// The store is a resource of type `dyn Store` and follows the rules of
/// [resources](Context::resource): the run's store takes precedence over the graph's, and a
/// subgraph with a store of its own keeps it.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::prelude::*;
/// use langgraph_store::prelude::*;
///
/// #[node]
/// async fn remember(text: &String, cx: &Context) -> Result<(), StoreError> {
///     cx.store()?.put(["said"], "last", text).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(MemoryStore::new());
/// let graph = graph! { START => remember => END }.compile()?.store(store.clone());
/// graph.invoke("hi".to_owned()).await?;
/// assert_eq!(store.get_as(["said"], "last").await?, Some("hi".to_owned()));
///
/// // Another store, for one run.
/// graph.run("ho".to_owned()).store(Arc::new(MemoryStore::new())).await?;
/// assert_eq!(store.get_as(["said"], "last").await?, Some("hi".to_owned()));
/// # Ok(())
/// # }
/// ```
pub trait WithStore: sealed::Sealed + Sized {
    /// Returns the graph or run with `store` as its long-term memory. Nodes, tools and subgraphs
    /// reach it with [`cx.store()`](ContextExt::store).
    #[must_use]
    fn store(self, store: Arc<dyn Store>) -> Self;
}

impl<S: State> WithStore for CompiledStateGraph<S> {
    fn store(self, store: Arc<dyn Store>) -> Self {
        self.resource(store)
    }
}

impl<S: State> WithStore for Run<S> {
    fn store(self, store: Arc<dyn Store>) -> Self {
        self.resource(store)
    }
}

/// Gives a node, a tool or a router access to the store.
pub trait ContextExt: sealed::Sealed {
    /// Returns the long-term memory of the graph or the run. Its methods are those of
    /// [`StoreExt`](crate::StoreExt).
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], which says how to attach one.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    /// use langgraph_store::prelude::*;
    ///
    /// #[node]
    /// async fn greet(user: &String, cx: &Context) -> Result<String, StoreError> {
    ///     let name: Option<String> = cx.store()?.get_as(["users", user], "name").await?;
    ///     Ok(format!("Hello, {}", name.unwrap_or_default()))
    /// }
    ///
    /// let graph = graph! { START => greet => END }.compile()?;
    /// let error = graph.invoke_blocking("u-1".to_owned()).unwrap_err();
    /// assert!(error.to_string().starts_with("node `greet` failed: there is no store; give one"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn store(&self) -> Result<&dyn Store, StoreError>;
}

impl ContextExt for Context {
    fn store(&self) -> Result<&dyn Store, StoreError> {
        self.resource().map_err(|_| StoreError::NoStore)
    }
}

mod sealed {
    use super::{CompiledStateGraph, Context, Run, State};

    pub trait Sealed {}

    impl<S: State> Sealed for CompiledStateGraph<S> {}
    impl<S: State> Sealed for Run<S> {}
    impl Sealed for Context {}
}
