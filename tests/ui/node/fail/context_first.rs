#![allow(unused)]

use langgraph::prelude::*;

#[node]
async fn plan(cx: &Context, state: &i64) -> i64 {
    *state
}

#[node]
async fn owned(cx: Context) -> i64 {
    1
}

fn main() {}
