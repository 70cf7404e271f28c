#![allow(unused)]

use langgraph::prelude::*;

struct Query;

/// Answers.
#[tool]
async fn answer(query: Query) -> String {
    String::new()
}

fn main() {}
