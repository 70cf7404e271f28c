#![allow(unused)]

use langgraph::prelude::*;

/// A planner.
#[node]
pub struct Planner;

#[node]
impl Clone for Planner {
    fn clone(&self) -> Self {
        Planner
    }
}

#[node]
impl Planner {
    async fn plan(&self, state: &i64) -> i64 {
        *state
    }
}

fn main() {}
