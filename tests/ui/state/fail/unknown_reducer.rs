use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(my::rules::newest)]
    log: Vec<String>,
}

fn main() {}
