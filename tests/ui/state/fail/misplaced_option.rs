use langgraph::prelude::*;

#[derive(State, Clone, Default)]
#[state(ephemeral)]
struct Notes {
    #[state(crate = langgraph)]
    first: i64,
    #[state(reducer = append)]
    second: Vec<i64>,
    #[state(untracked = true)]
    third: i64,
}

fn main() {}
