//! A migration is a function over what is stored.
use langgraph::prelude::*;

#[derive(State, Clone, Default)]
#[state(version = 1, migrate = from_older)]
struct Notes {
    count: i64,
}

fn from_older(notes: Notes) -> Notes {
    notes
}

#[derive(State, Clone, Default)]
#[state(version = 1, migrate = from_odler)]
struct Misspelt {
    count: i64,
}

fn main() {}
