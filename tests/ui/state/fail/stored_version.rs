use langgraph::prelude::*;

#[derive(State, Clone, Default)]
#[state(version = 0, migrate = missing)]
struct Zero {
    #[state(version = 2)]
    count: i64,
}

#[derive(State, Clone, Default)]
#[state(migrate = from_older)]
struct Unversioned {
    count: i64,
}

#[derive(State, Clone, Default)]
#[state(version = 2, version = 3)]
struct Twice {
    count: i64,
}

fn from_older() {}

fn main() {
    let _ = StateGraph::<Unversioned>::new();
    let _ = StateGraph::<Twice>::new();
}
