use langgraph::prelude::*;

#[derive(Default)]
struct Handle;

#[derive(State, Clone, Default)]
struct Notes {
    count: i64,
    handle: Handle,
}

fn main() {}
