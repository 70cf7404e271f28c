#![allow(unused)]

use langgraph_agent::prelude::*;

/// Answers.
#[tool]
async fn answer<T: ToString>(query: T) -> String {
    query.to_string()
}

/// Answers.
#[tool]
async fn hidden(query: impl ToString) -> String {
    query.to_string()
}

fn main() {}
