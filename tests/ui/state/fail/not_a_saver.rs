use std::sync::Arc;

use langgraph::prelude::*;

struct Files;

fn main() {
    let graph = StateGraph::<i64>::new().compile().unwrap();
    let _ = graph.checkpointer(Arc::new(Files));
}
