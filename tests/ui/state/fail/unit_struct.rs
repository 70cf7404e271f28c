use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Nothing;

fn main() {
    let _ = StateGraph::<Nothing>::new();
}
