use langgraph::prelude::*;
use langgraph_functional::{entrypoint, task};

#[task(retries = 3)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[task(allow(nondeterminism))]
async fn double(a: i64) -> i64 {
    a + a
}

#[entrypoint(allow(everything))]
async fn workflow(number: i64, _: &Context) -> i64 {
    number
}

fn main() {}
