#![allow(unused)]

use langgraph::prelude::*;

#[node]
async unsafe fn dangerous(state: &i64) -> i64 {
    *state
}

#[node]
extern "C" fn foreign(state: &i64) -> i64 {
    *state
}

#[node]
const fn constant(state: &i64) -> i64 {
    *state
}

fn main() {}
