use std::sync::Mutex;

use langgraph::prelude::*;
use langgraph_functional::{entrypoint, task};

static COUNT: Mutex<i64> = Mutex::new(0);

async fn wait() {}

#[task]
async fn add(number: i64) -> i64 {
    let count = COUNT.lock().unwrap();
    wait().await;
    number + *count
}

#[entrypoint]
async fn workflow(number: i64, cx: &Context) -> Result<i64, NodeError> {
    let count = COUNT.lock().unwrap();
    let sum = add(number).on(cx).await?;
    Ok(sum + *count)
}

fn main() {}
