//! Nodes that run as one task for each item.

use std::sync::Arc;

use super::send::{ErasedItem, item};
use super::{Call, Context, Item, NodeRun, Step};
use crate::error::NodeError;
use crate::state::State;

/// Finds the items of a node in the state.
pub(crate) type Items<S> = dyn Fn(&S) -> Vec<Arc<dyn ErasedItem>> + std::marker::Send + Sync;

type RunItem<S> = dyn for<'a> Fn(&dyn ErasedItem, &'a S, &'a Context) -> NodeRun<'a, S>
    + std::marker::Send
    + Sync;

/// How a node runs as one task for each item that it finds in the state; see
/// [`Node::each_item`](super::Node::each_item).
pub struct EachItem<S: State> {
    pub(crate) items: Arc<Items<S>>,
    run: Arc<RunItem<S>>,
    check: CheckItem,
}

/// Fails if an item has not the type of the node's.
type CheckItem = fn(&dyn ErasedItem, &str) -> Result<(), NodeError>;

impl<S: State> EachItem<S> {
    /// Creates it from a function that finds the items, and one that runs the node on an item.
    ///
    /// The items are found when the graph reaches the node. Without items the node itself runs.
    pub fn new<T: Item>(
        items: impl Fn(&S) -> Vec<T> + std::marker::Send + Sync + 'static,
        run: impl for<'a> Fn(T, &'a S, &'a Context) -> NodeRun<'a, S>
        + std::marker::Send
        + Sync
        + 'static,
    ) -> Self {
        let erase = |item| Arc::new(item) as Arc<dyn ErasedItem>;
        Self {
            items: Arc::new(move |state| items(state).into_iter().map(erase).collect()),
            check: |sent, node| item::<T>(sent, node).map(drop),
            run: Arc::new(move |sent, state, cx| match item(sent, cx.node()) {
                Ok(item) => run(item, state, cx),
                Err(error) => NodeRun::ready(Err::<(), _>(error)),
            }),
        }
    }
}

impl_debug!([S: State] EachItem<S>);

/// A node, and how it runs on an item.
pub(crate) struct EachStep<S: State> {
    pub(crate) whole: Arc<dyn Step<S>>,
    pub(crate) each: EachItem<S>,
}

impl<S: State> Step<S> for EachStep<S> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        match call.item {
            Some(item) => (self.each.run)(item, call.state, call.cx),
            None => self.whole.call(call),
        }
    }

    fn check_item(&self, item: &dyn ErasedItem, node: &str) -> Result<(), NodeError> {
        (self.each.check)(item, node)
    }

    fn code(&self) -> &'static str {
        self.whole.code()
    }
}
