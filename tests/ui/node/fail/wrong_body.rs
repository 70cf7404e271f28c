#![allow(unused)]

use langgraph::prelude::*;

#[node]
async fn plan(state: &i64) -> i64 {
    format!("{state}")
}

#[node]
async fn forgotten(state: &i64) -> i64 {
    state + 1;
}

fn main() {}
