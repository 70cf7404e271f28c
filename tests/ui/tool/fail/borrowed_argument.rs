#![allow(unused)]

use langgraph_agent::prelude::*;

/// Searches.
#[tool]
async fn search(query: &str, tags: &[String]) -> String {
    query.to_owned()
}

fn main() {}
