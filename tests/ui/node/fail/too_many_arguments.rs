#![allow(unused)]

use langgraph::prelude::*;

#[node]
async fn plan(state: &i64, cx: &Context, model: &str) -> i64 {
    *state
}

#[node]
async fn item_last(state: &i64, item: String) -> i64 {
    *state
}

fn main() {}
