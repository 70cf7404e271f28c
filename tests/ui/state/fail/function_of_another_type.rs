use langgraph::prelude::*;

fn longest(a: String, b: String) -> String {
    if b.len() > a.len() { b } else { a }
}

#[derive(State, Clone, Default)]
struct Notes {
    #[reducer(longest)]
    count: i64,
}

fn main() {}
