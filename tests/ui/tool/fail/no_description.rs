#![allow(unused)]

use langgraph::agent::IntoTool;
use langgraph::prelude::*;

#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = add.into_tool();
}
