use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Formats, MemorySaver};
use langgraph::prelude::*;
use langgraph_tests::OverMemory;

#[derive(Clone, Default)]
struct Handle;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(append)]
    log: Vec<String>,
    handle: Handle,
}

fn main() {
    let graph = StateGraph::<Notes>::new().compile().unwrap();
    let store = Arc::new(MemorySaver::new());
    let saver = OverMemory::new(&store, Formats::default());
    let _ = graph.clone().checkpointer(saver.clone());
    let any: Arc<dyn Checkpointer> = saver;
    let _ = graph.clone().checkpointer(any);
    let _ = graph.checkpointer(store);
}
