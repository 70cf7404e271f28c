//! What a task costs beside the bare future, and the start of an entrypoint beside that of a graph.
//!
//! `cargo bench -p langgraph-benches --bench tasks`

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, entrypoint, task};

/// The number of calls in a run.
const CALLS: i64 = 1000;

async fn bare(number: i64) -> i64 {
    black_box(number + 1)
}

#[task]
async fn step(number: i64) -> i64 {
    bare(number).await
}

#[entrypoint]
async fn of_futures(cx: &Context) -> i64 {
    black_box(cx);
    let mut number = 0;
    for _ in 0..CALLS {
        number = bare(number).await;
    }
    number
}

#[entrypoint]
async fn of_tasks(cx: &Context) -> Result<i64, NodeError> {
    let mut number = 0;
    for _ in 0..CALLS {
        number = step(number).on(cx).await?;
    }
    Ok(number)
}

#[entrypoint]
async fn nothing(number: i64, _: &Context) -> i64 {
    number
}

fn tasks(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let Ok(runtime) = runtime else { return };
    let (Ok(futures), Ok(tasks), Ok(start)) =
        (of_futures.compile(), of_tasks.compile(), nothing.compile())
    else {
        return;
    };
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("nothing", |number: &i64| *number)
        .add_sequence(&["nothing"]);
    let Ok(graph) = graph.compile() else { return };
    c.bench_function("1000 futures", |b| {
        b.to_async(&runtime).iter(|| futures.invoke(of_futures()));
    });
    c.bench_function("1000 tasks", |b| {
        b.to_async(&runtime).iter(|| tasks.invoke(of_tasks()));
    });
    c.bench_function("an entrypoint", |b| {
        b.to_async(&runtime).iter(|| start.invoke(nothing(1)));
    });
    c.bench_function("a graph of one node", |b| {
        b.to_async(&runtime).iter(|| graph.invoke(1));
    });
}

criterion_group!(benches, tasks);
criterion_main!(benches);
