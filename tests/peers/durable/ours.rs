//! This crate: a thread for each chain, on SQLite (`FILE` is set) or PostgreSQL.

mod clock;

use std::sync::Arc;

use langgraph::checkpoint::{Bytes, Saver};
use langgraph::prelude::*;
use langgraph_postgres::PostgresSaver;
use langgraph_sqlite::SqliteSaver;

#[derive(State, Clone, Debug, Default)]
struct Chain {
    text: String,
    /// When the last node began.
    at: u64,
}

fn main() {
    clock::runtime().block_on(async {
        if let Ok(file) = std::env::var("FILE") {
            measure(SqliteSaver::open(file).unwrap()).await;
        } else {
            let url = std::env::var("DATABASE_URL").unwrap();
            measure(PostgresSaver::connect(&url).await.unwrap()).await;
        }
    });
}

async fn measure<C: Saver<Stores = Bytes>>(saver: C) {
    let mut graph = StateGraph::<Chain>::new();
    let names: Vec<_> = (0..clock::STEPS)
        .map(|step| format!("step{step}"))
        .collect();
    for name in &names {
        graph.add_node(name.clone(), |state: &Chain| {
            ChainUpdate::default()
                .text(clock::payload())
                .at(clock::step(state.at))
        });
    }
    let graph = graph.add_sequence(&names).compile().unwrap();
    let graph = graph.checkpointer(Arc::new(saver));
    clock::measure(move |thread| {
        let graph = graph.clone();
        async move {
            graph.run(()).thread(thread).await.unwrap();
        }
    })
    .await;
}
