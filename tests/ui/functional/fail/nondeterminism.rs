#![deny(deprecated)]

use std::collections::HashMap;
use std::time::{Instant, SystemTime};

use langgraph::prelude::*;
use langgraph_functional::entrypoint;

#[entrypoint]
async fn workflow(weights: HashMap<String, i64>, cx: &Context) -> Result<i64, NodeError> {
    let _ = cx.now().await?;
    let (_, _) = (SystemTime::now(), Instant::now());
    let mut sum = 0;
    for (_, weight) in &weights {
        sum += weight;
    }
    Ok(sum + weights.values().max().copied().unwrap_or_default())
}

#[entrypoint(allow(nondeterminism))]
async fn allowed(_number: i64, _: &Context) -> bool {
    SystemTime::now().elapsed().is_ok()
}

fn main() {}
