#![allow(unused)]

use langgraph::prelude::*;

struct Answer;

/// Answers.
#[tool]
async fn answer(query: String) -> Answer {
    Answer
}

fn main() {}
