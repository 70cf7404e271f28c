use langgraph::__private::serde::Serialize;
use langgraph::prelude::*;

#[derive(Clone, Default)]
struct Handle;

#[derive(State, Clone, Default)]
struct Notes {
    handle: Handle,
}

fn stored<T: Serialize>(_: T) {}

fn main() {
    stored(NotesUpdate::default());
}
