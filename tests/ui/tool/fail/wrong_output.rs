#![allow(unused)]

use langgraph_agent::prelude::*;

struct Answer;

/// Answers.
#[tool]
async fn answer(query: String) -> Answer {
    Answer
}

fn main() {}
