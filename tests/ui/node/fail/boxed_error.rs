#![allow(unused)]

use std::error::Error;

use langgraph::prelude::*;

/// A box of an error, as the crate `anyhow` has it.
#[derive(Debug)]
struct Anyhow(Box<dyn Error + Send + Sync>);

impl From<Anyhow> for Box<dyn Error + Send + Sync> {
    fn from(error: Anyhow) -> Self {
        error.0
    }
}

fn fetch() -> Result<i64, Anyhow> {
    Ok(1)
}

#[node]
async fn asks(_: &i64) -> Result<i64, NodeError> {
    Ok(fetch()?)
}

#[node]
async fn passes_on(_: &i64) -> Result<i64, Anyhow> {
    fetch()
}

#[node]
async fn right(_: &i64) -> Result<i64, NodeError> {
    fetch().map_err(NodeError::boxed)
}

fn main() {}
