#![allow(unused)]

use langgraph::prelude::*;

#[node(write(log))]
async fn misspelt(state: &i64) -> i64 {
    *state
}

#[node(retry = 3)]
async fn method(state: &i64) -> i64 {
    *state
}

#[node(fast)]
async fn unknown(state: &i64) -> i64 {
    *state
}

fn main() {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("misspelt", misspelt).add_node("unknown", unknown);
}
