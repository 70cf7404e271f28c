use langgraph::prelude::*;

#[derive(Clone)]
struct Handle;

#[derive(State, Clone)]
struct Notes {
    #[reducer(|_, update| update)]
    merged: Handle,
    #[state(ephemeral)]
    ephemeral: Handle,
    plain: Handle,
}

fn main() {}
