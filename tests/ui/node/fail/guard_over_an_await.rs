#![allow(unused)]

use std::sync::Mutex;

use langgraph::prelude::*;

static COUNT: Mutex<i64> = Mutex::new(0);

async fn wait() {}

async fn plain(n: &i64) -> i64 {
    let count = COUNT.lock().unwrap();
    wait().await;
    *n + *count
}

#[node]
async fn annotated(n: &i64) -> i64 {
    let count = COUNT.lock().unwrap();
    wait().await;
    *n + *count
}

fn main() {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("plain", plain);
}
