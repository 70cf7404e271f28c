//! `#[node]`: every form runs in a graph, and the function stays a function.

mod blocks;
mod forms;
mod generated;
mod generic;
mod writes;

use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Notes {
    #[reducer(append)]
    log: Vec<String>,
    count: i64,
}

#[derive(Debug)]
struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failed {}

fn say(text: &str) -> NotesUpdate {
    NotesUpdate::default().log(vec![text.to_owned()])
}
