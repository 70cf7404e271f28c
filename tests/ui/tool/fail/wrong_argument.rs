#![allow(unused)]

use langgraph_agent::prelude::*;

struct Query;

/// Answers.
#[tool]
async fn answer(query: Query) -> String {
    String::new()
}

fn main() {}
