#![allow(unused)]

use langgraph::agent::ToolContext;
use langgraph::prelude::*;

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
