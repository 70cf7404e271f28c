use langgraph::prelude::*;
use langgraph_functional::{entrypoint, task};

#[derive(Clone, Debug)]
struct Essay(String);

#[task]
async fn review(essay: Essay) -> usize {
    essay.0.len()
}

#[task]
async fn write(topic: String) -> Result<Essay, NodeError> {
    Ok(Essay(topic))
}

#[entrypoint]
async fn workflow(essay: Essay, _: &Context) -> usize {
    essay.0.len()
}

fn main() {}
