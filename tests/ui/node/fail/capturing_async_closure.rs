use langgraph::prelude::*;

fn main() {
    let by = 3;
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("right", move |n: i64| async move { n + by })
        .add_node("fine", async |n: &i64| *n)
        .add_node("wrong", async move |n: &i64| n + by);
}
