use langgraph::prelude::*;

struct Rule;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(Rule)]
    count: i64,
}

fn main() {}
