use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Pair(String, i64);

fn main() {
    let _ = StateGraph::<Pair>::new();
}
