use langgraph::prelude::*;
use langgraph_functional::{Tasks, entrypoint, task};

#[task]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[entrypoint(anywhere)]
async fn workflow(number: i64, _: &Context) -> i64 {
    number
}

fn main() {
    let _ = Tasks::new().task(add);
}
