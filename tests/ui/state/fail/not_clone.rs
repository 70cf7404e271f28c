use langgraph::prelude::*;

#[derive(State, Default)]
struct Notes {
    log: Vec<String>,
}

fn main() {}
