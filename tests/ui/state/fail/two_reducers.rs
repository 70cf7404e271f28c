use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(append)]
    #[reducer(union)]
    log: Vec<String>,
    #[reducer(append, union)]
    other: Vec<String>,
}

fn main() {}
