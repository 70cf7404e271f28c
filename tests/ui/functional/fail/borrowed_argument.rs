use langgraph::prelude::*;
use langgraph_functional::{entrypoint, task};

#[task]
async fn count(text: &str) -> usize {
    text.len()
}

#[entrypoint]
async fn workflow(text: &String, cx: &Context) -> usize {
    text.len()
}

fn main() {}
