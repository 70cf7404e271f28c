use langgraph::prelude::*;
use langgraph_functional::{entrypoint, task};

#[task]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[entrypoint]
async fn workflow(number: i64) -> i64 {
    number
}

#[entrypoint]
async fn forgotten(number: i64, cx: &Context) -> Result<i64, NodeError> {
    let _ = cx;
    add(number, 1).await
}

fn main() {}
