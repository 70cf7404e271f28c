#![allow(unused)]

use std::error::Error;

use langgraph::prelude::*;

/// An error that holds that of a graph, without a box.
#[derive(Debug)]
struct Around(AgentError);

impl std::fmt::Display for Around {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "around")
    }
}

impl Error for Around {}

fn around() -> Result<i64, Around> {
    Ok(1)
}

fn of_one_thread() -> Result<i64, Box<dyn Error>> {
    Ok(1)
}

struct Adds;

impl Agent for Adds {
    type State = i64;

    fn name(&self) -> &str {
        "adds"
    }

    async fn run(&self, number: i64) -> Result<i64, AgentError> {
        std::fs::read("x")?;
        Ok(number + around()? + of_one_thread()?)
    }
}

fn main() {}
