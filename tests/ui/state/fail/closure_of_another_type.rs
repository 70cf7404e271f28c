use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(|current, update| format!("{current}{update}"))]
    count: i64,
}

fn main() {}
