#![allow(unused)]

use langgraph::prelude::*;
use langgraph_agent::prelude::*;

/// A node's context.
#[tool]
async fn node_context(query: String, cx: &Context) -> String {
    query
}

/// First.
#[tool]
async fn first(cx: &ToolContext<'_>, query: String) -> String {
    query
}

/// Owned.
#[tool]
async fn owned(query: String, cx: ToolContext<'_>) -> String {
    query
}

fn main() {}
