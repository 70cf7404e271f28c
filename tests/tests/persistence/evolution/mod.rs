//! Programs change while their threads wait.

mod nodes;
mod states;
mod stored;

use std::sync::Arc;

use langgraph::checkpoint::{Formats, MemorySaver};
use langgraph::prelude::*;
use langgraph_tests::OverMemory;

/// Keeps values as they are, and as bytes.
const BOTH: [bool; 2] = [false, true];

/// The graph with a saver over `store`.
fn on<S: State>(
    graph: &StateGraph<S>,
    store: &Arc<MemorySaver>,
    bytes: bool,
) -> CompiledStateGraph<S>
where
    S::Update: serde::Serialize + serde::de::DeserializeOwned,
{
    let graph = graph.compile().unwrap();
    if bytes {
        graph.checkpointer(OverMemory::new(store, Formats::default()))
    } else {
        graph.checkpointer(Arc::clone(store))
    }
}
