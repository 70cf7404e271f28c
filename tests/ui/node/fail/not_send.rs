#![allow(unused)]

use langgraph::prelude::*;

async fn wait() {}

#[node]
async fn plan(state: &i64) -> i64 {
    let shared = std::rc::Rc::new(*state);
    wait().await;
    *shared
}

fn main() {}
