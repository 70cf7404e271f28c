#![allow(unused)]

use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    log: Vec<String>,
    count: i64,
}

#[node(writes(lgo))]
async fn unknown_field(_: &Notes) -> Vec<String> {
    vec![]
}

#[node(writes(log))]
async fn another_type(_: &Notes) -> i64 {
    1
}

#[node(writes(log, count))]
async fn one_for_two(_: &Notes) -> i64 {
    1
}

#[node(writes(log, log))]
async fn twice(_: &Notes) -> Vec<String> {
    vec![]
}

#[node(writes())]
async fn none(_: &Notes) {}

#[node(writes = "log")]
async fn text(_: &Notes) -> Notes {
    Notes::default()
}

#[node(writes(log))]
async fn no_state(item: u8) -> Vec<String> {
    vec![]
}

fn main() {}
