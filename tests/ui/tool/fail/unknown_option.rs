#![allow(unused)]

use langgraph_agent::prelude::*;

/// Answers.
#[tool(nam = "x")]
async fn misspelt(#[tool(defalt = 1)] a: i64) -> i64 {
    a
}

/// Answers.
#[tool(name = "with spaces")]
async fn bad_name(#[allow(unused)] a: i64, #[tool] b: i64) -> i64 {
    a
}

fn main() {}
