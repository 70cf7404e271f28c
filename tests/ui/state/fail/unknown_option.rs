use langgraph::prelude::*;

#[derive(State, Clone, Default)]
#[state(crat = langgraph)]
struct Notes {
    #[state(ephemral)]
    first: i64,
    #[state(transient)]
    second: i64,
    #[state]
    third: i64,
}

fn main() {
    let _ = NotesUpdate::default().first(1).second(2).third(3);
    let _ = StateGraph::<Notes>::new();
}
