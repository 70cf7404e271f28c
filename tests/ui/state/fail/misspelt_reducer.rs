use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(apend)]
    log: Vec<String>,
}

fn main() {}
