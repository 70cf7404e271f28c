#![allow(unused)]

use langgraph::graph::{CompilationError, CompilationErrors, Lint};
use langgraph::prelude::*;

#[derive(State, Clone, Default)]
pub struct S {
    count: i64,
    #[reducer(append)]
    log: Vec<String>,
}

pub enum Route {
    Again,
    Write(Vec<String>),
    Done,
}

pub fn route(_: &S) -> Route {
    Route::Done
}

pub fn done(state: &S) -> bool {
    state.count > 3
}

pub async fn maybe(_: &S) -> Result<Option<u8>, NodeError> {
    Ok(None)
}

pub fn topics(_: &S) -> Vec<String> {
    Vec::new()
}

const loud: bool = true;

#[node]
async fn a(_: &S) -> SUpdate {
    SUpdate::default()
}

#[node(writes(count))]
async fn b(_: &S) -> i64 {
    1
}

#[node(writes(log))]
async fn c(_: &S) -> Result<Vec<String>, NodeError> {
    Ok(Vec::new())
}

async fn d(_: &S) {}

fn e(_: &S, _: &Context) -> SUpdate {
    SUpdate::default()
}

#[node]
async fn planner(_: &S) -> Next {
    Next::End
}

#[node]
async fn write(topic: String, _: &S) -> SUpdate {
    SUpdate::default().log(vec![topic])
}

mod nodes {
    use super::*;

    #[node]
    pub async fn x(_: &S) {}
}

/// What the macro cannot see: what a node returns, and what one that is no item writes.
fn report<T>(graph: usize, compiled: Result<T, CompilationErrors>) {
    let accepted = match &compiled {
        Ok(_) => true,
        Err(errors) => errors.iter().all(|error| {
            matches!(
                error,
                CompilationError::Lint(Lint::UndeclaredGoto { .. } | Lint::ParallelWrites { .. })
            )
        }),
    };
    match compiled {
        _ if accepted => println!("{graph}: accepted"),
        Ok(_) => {}
        Err(errors) => println!("{graph}: {errors}"),
    }
}
