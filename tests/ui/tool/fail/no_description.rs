#![allow(unused)]

use langgraph_agent::IntoTool;
use langgraph_agent::prelude::*;

#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = add.into_tool();
}
