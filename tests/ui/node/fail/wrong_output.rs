#![allow(unused)]

use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Notes {
    log: Vec<String>,
}

#[node]
async fn plan(_: &Notes) -> Vec<String> {
    vec![]
}

#[node]
async fn fallible(_: &Notes) -> Result<NotesUpdate, String> {
    Ok(NotesUpdate::default())
}

#[node]
fn synchronous(_: &Notes) -> Option<NotesUpdate> {
    None
}

#[node]
async fn worker(_: u8, _: &Notes) -> u8 {
    1
}

fn main() {}
