#![allow(unused)]

use langgraph::prelude::*;

#[node]
async fn plan() -> i64 {
    1
}

fn main() {}
