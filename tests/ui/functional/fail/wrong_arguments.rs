use langgraph::prelude::*;
use langgraph_functional::{entrypoint, task};

#[task]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[entrypoint]
async fn workflow(number: i64, cx: &Context) -> Result<i64, NodeError> {
    add(number).on(cx).await
}

#[entrypoint]
async fn other(text: String, cx: &Context) -> Result<i64, NodeError> {
    add(text, 1).on(cx).await
}

fn main() {}
