#![allow(unused)]

use langgraph::prelude::*;

struct Planner;

impl Planner {
    #[node]
    async fn run(&self, state: &i64) -> i64 {
        *state
    }
}

fn main() {}
