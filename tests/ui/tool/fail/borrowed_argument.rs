#![allow(unused)]

use langgraph::prelude::*;

/// Searches.
#[tool]
async fn search(query: &str, tags: &[String]) -> String {
    query.to_owned()
}

fn main() {}
