#![allow(unused)]

use langgraph_agent::prelude::*;

struct Search;

impl Search {
    /// Searches.
    #[tool]
    async fn call(&self, query: String) -> String {
        query
    }
}

/// A struct.
#[tool]
struct Add;

fn main() {}
