#![allow(unused)]

use langgraph_agent::prelude::*;

/// Answers.
#[tool]
async fn answer((a, b): (i64, i64)) -> i64 {
    a + b
}

/// Answers.
#[tool]
async fn ignored(_: i64) -> i64 {
    1
}

fn main() {}
