use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(append)]
    count: i64,
    #[reducer(add_messages)]
    messages: Vec<String>,
}

fn main() {}
