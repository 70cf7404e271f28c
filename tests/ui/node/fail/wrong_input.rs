use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    log: Vec<String>,
}

#[derive(State, Clone, Default)]
struct Other {
    log: Vec<String>,
}

async fn runs(graph: CompiledStateGraph<Notes>) {
    let _ = graph.invoke(Other::default()).await;
    let _ = graph.thread("t").update("hello").await;
}

fn main() {}
