use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(|update| update)]
    count: i64,
}

fn main() {}
