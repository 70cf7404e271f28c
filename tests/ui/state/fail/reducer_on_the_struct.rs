use langgraph::prelude::*;

#[derive(State, Clone, Default)]
#[reducer(append)]
struct Notes {
    log: Vec<String>,
}

fn main() {}
