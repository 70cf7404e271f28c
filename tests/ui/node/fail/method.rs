#![allow(unused)]

use langgraph::prelude::*;

struct Owned;

#[node]
impl Owned {
    async fn run(self, state: &i64) -> i64 {
        *state
    }
}

struct Mutable;

#[node]
impl Mutable {
    async fn run(&mut self, state: &i64) -> i64 {
        *state
    }
}

struct Wrong;

#[node]
impl Wrong {
    async fn run(&self, state: &i64) -> String {
        state.to_string()
    }
}

struct Alias;

#[node(alias = "old")]
impl Alias {
    async fn run(&self, state: &i64) -> i64 {
        *state
    }
}

struct Worker;

#[node]
impl Worker {
    async fn run(&self, item: u8, state: &i64) -> i64 {
        *state
    }
}

struct Function;

#[node]
impl Function {
    #[node]
    async fn plan(&self, state: &i64) -> i64 {
        *state
    }

    #[node]
    async fn write(state: &mut i64) -> i64 {
        *state
    }

    #[node]
    async fn check(state: &i64) -> String {
        state.to_string()
    }
}

struct Nothing;

#[node]
impl Nothing {
    async fn plan(state: &i64) -> i64 {
        *state
    }
}

fn main() {}
