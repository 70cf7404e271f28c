#![allow(unused)]

use langgraph::prelude::*;

#[node]
async fn plan(state: &i64, cx: Context) -> i64 {
    *state
}

fn main() {}
