#![allow(unused)]

use langgraph::prelude::*;

struct Config;

#[node]
async fn plan(state: &i64, config: &Config) -> i64 {
    *state
}

#[node]
fn synchronous(state: &i64, config: &Config) -> i64 {
    *state
}

fn main() {}
