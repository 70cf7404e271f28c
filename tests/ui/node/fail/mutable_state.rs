#![allow(unused)]

use langgraph::prelude::*;

#[node]
async fn plan(state: &mut i64) {
    *state += 1;
}

fn main() {}
