use langgraph::prelude::*;

#[derive(State, Clone)]
enum Route {
    Left,
    Right,
}

fn main() {
    // Nothing else is wrong with it.
    let _ = StateGraph::with_initial(Route::Left);
}
