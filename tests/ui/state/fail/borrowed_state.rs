use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Borrowed<'a> {
    text: &'a str,
}

fn main() {}
