//! How often the loop allocates, and how large a run is that waits.
//!
//! A binary of its own: the counter stands in for the program's allocator. It counts by thread, so
//! that tests beside each other do not see one another.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::future::IntoFuture as _;
use std::sync::Arc;
use std::task::{Context as TaskContext, Waker};

use allocation_counter::{AllocationInfo, measure};
use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct Counter {
    turn: u64,
    #[reducer(add)]
    total: u64,
}

#[node]
async fn count(state: &Counter) -> CounterUpdate {
    CounterUpdate::default().turn(state.turn + 1)
}

#[test]
fn a_whole_state_whose_messages_have_ids_is_taken_as_it_is() {
    #[derive(State, Clone)]
    struct Chat {
        #[reducer(add_messages)]
        messages: Vec<Message>,
    }

    let messages = (0..5_000).map(|id| Message::user("hi").with_id(id.to_string()));
    let mut chat = Chat {
        messages: messages.collect(),
    };
    assert_eq!(measure(|| chat.prepare_whole()).count_total, 0);
    chat.messages.push(Message::assistant("ho"));
    assert_eq!(measure(|| chat.prepare_whole()).count_total, 0);
    assert!(chat.messages.iter().all(|message| message.id.is_some()));
}

/// What one run of `graph` allocates, once the program has warmed up: the least of several.
///
/// On a slow machine a run yields now and then, and the first time that a runtime is yielded to, it
/// allocates a list. So each of them is yielded to at once.
fn of_one_run(graph: &CompiledStateGraph<Counter>) -> AllocationInfo {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let run = || {
        runtime.block_on(async {
            tokio::task::yield_now().await;
            graph.run(()).limit(100_000).await.unwrap();
        });
    };
    run();
    let runs = std::iter::repeat_with(|| measure(run)).take(8);
    runs.min_by_key(|run| run.count_total).unwrap()
}

/// As [`of_one_run`], on a new thread in memory.
fn of_one_stored_run(graph: &CompiledStateGraph<Counter>) -> AllocationInfo {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let run = || {
        let graph = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
        runtime.block_on(async {
            tokio::task::yield_now().await;
            graph.run(()).limit(100_000).thread("t").await.unwrap();
        });
    };
    run();
    let runs = std::iter::repeat_with(|| measure(run)).take(8);
    runs.min_by_key(|run| run.count_total).unwrap()
}

#[test]
fn a_superstep_stored_in_memory_allocates_only_its_node() {
    let few = of_one_stored_run(&chain(100)).count_total;
    let many = of_one_stored_run(&chain(900)).count_total;
    // Its link is allocated with others.
    let tenths = (many - few) * 10 / 800;
    assert!(
        tenths <= 11,
        "{tenths} tenths of an allocation for each superstep"
    );
}

/// What each superstep adds, from a short run and a long one of the same graph.
fn per_superstep(graph: impl Fn(usize) -> CompiledStateGraph<Counter>) -> f64 {
    let (short, long) = (100, 900);
    let few = of_one_run(&graph(short)).count_total;
    let many = of_one_run(&graph(long)).count_total;
    f64::from(u32::try_from(many - few).unwrap()) / f64::from(u32::try_from(long - short).unwrap())
}

fn chain(nodes: usize) -> CompiledStateGraph<Counter> {
    let mut graph = StateGraph::<Counter>::new();
    let names: Vec<_> = (0..nodes).map(|index| format!("n{index}")).collect();
    for name in &names {
        graph.add_node(name.clone(), count);
    }
    graph.add_sequence(&names).compile().unwrap()
}

fn turns(turns: usize) -> CompiledStateGraph<Counter> {
    let end = u64::try_from(turns).unwrap();
    let more = move |state: &Counter| state.turn < end;
    let again = count;
    let graph = graph! { START => again => if more { again } else { END } };
    graph.compile().unwrap()
}

// The counts are whole numbers, and exact.
#[allow(clippy::float_cmp)]
#[test]
fn a_sequential_superstep_allocates_only_the_future_of_its_node() {
    assert_eq!(per_superstep(chain), 1.0);
}

#[allow(clippy::float_cmp)]
#[test]
fn a_router_that_picks_an_arm_allocates_nothing() {
    assert_eq!(per_superstep(turns), 1.0);
}

#[test]
fn the_allocations_of_a_run_do_not_grow_with_its_graph() {
    let few = of_one_run(&chain(10)).count_total - 10;
    let many = of_one_run(&chain(900)).count_total - 900;
    assert_eq!(few, many);
    assert!(few <= 12, "a run allocates {few} times beside its nodes");
}

#[test]
fn a_task_beside_others_allocates_little_more_than_its_future_and_its_spawn() {
    let fan_out = |width: usize| {
        let mut graph = StateGraph::<Counter>::new();
        graph.add_node("first", |_: &Counter| ());
        graph.add_edge(START, "first");
        for name in (0..width).map(|index| format!("n{index}")) {
            let add = |_: &Counter| async { CounterUpdate::default().total(1) };
            graph.add_node(name.clone(), add);
            graph.add_edge("first", name.clone()).add_edge(name, END);
        }
        graph.compile().unwrap()
    };
    let few = of_one_run(&fan_out(100)).count_total;
    let many = of_one_run(&fan_out(900)).count_total;
    // The node's future, and the task that tokio runs.
    let each = (many - few) / 800;
    assert!(each <= 2, "{each} allocations for each task");
}

/// Runs that wait, `taken` of them, each polled once.
fn waiting(graph: &CompiledStateGraph<Counter>, runs: usize) -> Vec<impl Future> {
    let mut all: Vec<_> = (0..runs).map(|_| graph.run(()).into_future()).collect();
    let mut cx = TaskContext::from_waker(Waker::noop());
    for run in &mut all {
        assert!(std::pin::Pin::new(run).poll(&mut cx).is_pending());
    }
    all
}

#[test]
fn a_run_that_waits_takes_no_more_than_two_kilobytes() {
    let mut graph = StateGraph::<Counter>::new();
    let forever = |_: &Counter| std::future::pending::<CounterUpdate>();
    for name in (0..10).map(|index| format!("n{index}")) {
        graph.add_node(name, forever);
    }
    let names: Vec<_> = (0..10).map(|index| format!("n{index}")).collect();
    let graph = graph.add_sequence(&names).compile().unwrap();
    drop(waiting(&graph, 1));

    let mut kept = Vec::new();
    let info = measure(|| kept = waiting(&graph, 1_000));
    let each = info.bytes_current / 1_000;
    assert!(each <= 2_048, "{each} bytes for each run");
    println!("{each} bytes for each run");
}

/// A state of 80 text fields and a counter.
macro_rules! wide {
    ($($field:ident)*) => {
        #[derive(State, Clone, Debug, Default)]
        struct Wide {
            turn: u64,
            $($field: String,)*
        }
    };
}

wide! {
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9
    d0 d1 d2 d3 d4 d5 d6 d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9
    g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3 h4 h5 h6 h7 h8 h9
}

#[test]
fn an_update_of_a_wide_state_is_as_large_as_what_it_writes() {
    let size = size_of::<WideUpdate>();
    assert!(size <= 64, "{size} bytes");
    let mut state = Wide::default();
    let one = measure(|| {
        let mut update = WideUpdate::default().h9(String::new());
        state.prepare(&mut update);
        state.try_merge(update).unwrap();
    });
    assert_eq!(one.count_total, 0);
    let three = measure(|| {
        let update = WideUpdate::default().turn(1).c5(String::new());
        state.try_merge(update.h9(String::new())).unwrap();
    });
    assert_eq!(three.count_total, 1);
}

#[test]
fn a_superstep_over_a_wide_state_allocates_only_the_future_of_its_node() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let of_one_run = |turns: u64| {
        let again = |state: &Wide| {
            let turn = state.turn + 1;
            async move { WideUpdate::default().turn(turn) }
        };
        let more = move |state: &Wide| state.turn < turns;
        let graph = graph! { START => again => if more { again } else { END } };
        let graph = graph.compile().unwrap();
        let run = || {
            let ended = runtime.block_on(graph.run(()).limit(100_000).into_future());
            drop(ended.unwrap());
        };
        run();
        let runs = std::iter::repeat_with(|| measure(run)).take(8);
        runs.map(|run| run.count_total).min().unwrap()
    };
    // A longer run yields now and then, which takes an allocation on a slow machine.
    assert_eq!(of_one_run(120) - of_one_run(20), 100);
}
