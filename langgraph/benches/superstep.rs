//! A sequential superstep beside the loop one would write by hand.
//!
//! Both run the same nodes: a boxed future per call, an update merged into a state of two fields.

// A benchmark may stop when it cannot go on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_wrap,
    missing_docs
)]

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use langgraph::StateGraph;
use langgraph::node::{IntoOutput, NodeError, NodeFuture, NodeMeta, Output};
use langgraph::state::{Field, FieldSet, ReducerError, State};

#[derive(Clone, Default)]
struct Counter {
    total: i64,
    last: i64,
}

#[derive(Clone, Default)]
struct CounterUpdate {
    total: Option<i64>,
    last: Option<i64>,
}

impl From<Counter> for CounterUpdate {
    fn from(state: Counter) -> Self {
        Self {
            total: Some(state.total),
            last: Some(state.last),
        }
    }
}

const FIELDS: &[Field] = &[Field::plain("total").reduced(), Field::plain("last")];

impl State for Counter {
    type Update = CounterUpdate;

    fn fields(&self) -> &[Field] {
        FIELDS
    }

    fn written(&self, update: &CounterUpdate) -> FieldSet {
        let written = [update.total.is_some(), update.last.is_some()];
        (0..2).filter(|index| written[*index]).collect()
    }

    fn try_merge(&mut self, update: CounterUpdate) -> Result<(), ReducerError> {
        if let Some(total) = update.total {
            self.total += total;
        }
        if let Some(last) = update.last {
            self.last = last;
        }
        Ok(())
    }

    fn overwrite(&mut self, update: CounterUpdate) {
        self.total = update.total.unwrap_or(self.total);
        self.last = update.last.unwrap_or(self.last);
    }

    fn discard(&self, _: &mut CounterUpdate, _: &FieldSet) {}

    fn reset(&mut self, _: &FieldSet) {}
}

impl IntoOutput<Counter> for CounterUpdate {
    fn into_output(self) -> Result<Output<Counter>, NodeError> {
        Ok(Output::update(self))
    }
}

struct Meta;

impl NodeMeta for Meta {
    const NAME: &'static str = "count";
}

async fn work(state: &Counter) -> CounterUpdate {
    CounterUpdate {
        total: Some(1),
        last: Some(black_box(state.total)),
    }
}

/// What `#[node]` writes.
fn count(state: &Counter) -> NodeFuture<'_, Counter, CounterUpdate, Meta> {
    NodeFuture::new(work(state))
}

type ByHand = Box<
    dyn for<'a> Fn(&'a Counter) -> Pin<Box<dyn Future<Output = CounterUpdate> + Send + 'a>>
        + Send
        + Sync,
>;

fn sequential(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut group = c.benchmark_group("sequential superstep");
    for nodes in [10_usize, 100, 1_000] {
        group.throughput(Throughput::Elements(nodes as u64));
        let by_hand: Vec<ByHand> = (0..nodes)
            .map(|_| {
                let node: ByHand = Box::new(|state| Box::pin(work(state)));
                node
            })
            .collect();
        group.bench_function(BenchmarkId::new("by hand", nodes), |b| {
            b.to_async(&runtime).iter(|| async {
                let mut state = Counter::default();
                for node in &by_hand {
                    let update = node(&state).await;
                    state.try_merge(update).unwrap();
                }
                assert_eq!(state.total, nodes as i64);
            });
        });
        let mut graph = StateGraph::<Counter>::new();
        let names: Vec<_> = (0..nodes).map(|index| format!("n{index}")).collect();
        for name in &names {
            graph.add_node(name.clone(), count);
        }
        let graph = graph.add_sequence(&names).compile().unwrap();
        group.bench_function(BenchmarkId::new("graph", nodes), |b| {
            b.to_async(&runtime).iter(|| async {
                let state = graph.invoke(()).await;
                let Ok(state) = state else {
                    // The default limit is 1,000 supersteps, which is what the longest chain takes.
                    panic!("the chain did not finish");
                };
                assert_eq!(state.total, nodes as i64);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, sequential);
criterion_main!(benches);
