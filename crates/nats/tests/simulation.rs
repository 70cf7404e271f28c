//! A hundred machines, with messages that are lost and late, and machines that crash, are cut off and come
//! back. Each run is drawn from one seed, on a paused clock.
//!
//! `SEEDS=1000 cargo test -p langgraph-nats --test simulation --release` takes longer; `SEED=17` shows
//! one again.

#![allow(clippy::unwrap_used, clippy::expect_used)] // in what the tests share

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_agent::{EffectExt as _, OnUnknown, UnknownOutcome};
use langgraph_nats::{Metrics, Queue, Worker};
use langgraph_simulation::{Conditions, Net, noting_panics};
use tokio::task::JoinHandle;

const MACHINES: usize = 100;
const ITEMS: u32 = 400;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Orders {
    items: Vec<u32>,
    #[reducer(append)]
    done: Vec<u32>,
    #[reducer(append)]
    unknown: Vec<u32>,
}

fn items(state: &Orders) -> Vec<u32> {
    state.items.clone()
}

/// What happened in the world outside.
#[derive(Debug, Default)]
struct World(Mutex<BTreeMap<u32, u32>>);

#[node]
async fn ship(item: u32, _: &Orders, cx: &Context) -> Result<OrdersUpdate, NodeError> {
    let world = cx.resource::<World>()?;
    tokio::time::sleep(Duration::from_millis(u64::from(item % 7) * 40)).await;
    let shipped = cx
        .effect("ship")
        .on_unknown(OnUnknown::Fail)
        .run(|_| async {
            *world.0.lock().unwrap().entry(item).or_default() += 1;
            tokio::time::sleep(Duration::from_millis(30)).await;
            Ok::<_, Infallible>(item)
        })
        .await;
    match shipped {
        Ok(item) => Ok(OrdersUpdate::default().done(vec![item])),
        Err(error) if error.is::<UnknownOutcome>() => {
            Ok(OrdersUpdate::default().unknown(vec![item]))
        }
        Err(error) => Err(error),
    }
}

fn graph(world: &Arc<World>) -> CompiledStateGraph<Orders> {
    let graph = graph! {
        type State = Orders;
        let ship = worker(ship).anywhere();
        START => for item in items { ship(item) } => END;
    };
    graph.compile().unwrap().resource(Arc::clone(world))
}

struct Ended {
    metrics: Metrics,
    messages: u64,
    unknown: usize,
}

/// One run of the whole, drawn from a seed.
fn simulate(seed: u64) -> Ended {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    fastrand::seed(seed);
    runtime.block_on(async {
        let mut random = fastrand::Rng::with_seed(seed);
        let conditions = Conditions {
            loss: random.f64() * 0.05,
            delay: Duration::from_millis(random.u64(0..80)),
            ..Conditions::FINE
        };
        let net = Net::new(random.u64(..), conditions);
        let world = Arc::new(World::default());
        let start = |net: &Net| -> (usize, JoinHandle<()>) {
            let machine = net.machine();
            let worker = Worker::new(&graph(&world))
                .slots(2)
                .name(format!("w{}", machine.number));
            let number = machine.number;
            let queue = Queue::over(machine, "orders");
            (
                number,
                tokio::spawn(async move { worker.serve(&queue).await.unwrap() }),
            )
        };
        let queue = Queue::over(net.machine(), "orders");
        let mut machines: Vec<_> = (0..MACHINES).map(|_| start(&net)).collect();
        let driver = graph(&world)
            .checkpointer(Arc::new(MemorySaver::new()))
            .executor(queue.clone());
        let run = driver
            .run(OrdersUpdate::default().items((0..ITEMS).collect()))
            .thread("t");
        let run = tokio::spawn(async move { run.await });
        for _ in 0..2_000 {
            if run.is_finished() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(random.u64(1..100))).await;
            let place = random.usize(..machines.len());
            match random.u32(..10) {
                // A crash, and another machine in its place.
                0 | 1 => {
                    let (number, work) = std::mem::replace(&mut machines[place], start(&net));
                    work.abort();
                    net.crash(number);
                }
                // A cable is pulled, for longer or shorter than a driver waits.
                2 => {
                    let (net, number) = (net.clone(), machines[place].0);
                    let while_cut = Duration::from_millis(random.u64(100..12_000));
                    tokio::spawn(async move {
                        net.cut_off(number, true);
                        tokio::time::sleep(while_cut).await;
                        net.cut_off(number, false);
                    });
                }
                _ => {}
            }
        }
        let outcome = tokio::time::timeout(Duration::from_secs(600), run).await;
        let state = outcome
            .expect("the run ends")
            .unwrap()
            .unwrap()
            .finished()
            .unwrap();
        let mut all: Vec<_> = state.done.iter().chain(&state.unknown).copied().collect();
        assert!(
            state.done.is_sorted(),
            "seed {seed}: the order is the graph's"
        );
        all.sort_unstable();
        assert_eq!(
            all,
            (0..ITEMS).collect::<Vec<_>>(),
            "seed {seed}: each item once"
        );
        let happened = world.0.lock().unwrap();
        for item in &state.done {
            assert_eq!(
                happened.get(item),
                Some(&1),
                "seed {seed}: {item} happened once"
            );
        }
        for item in &state.unknown {
            assert!(
                happened.get(item).is_none_or(|times| *times == 1),
                "seed {seed}: {item}"
            );
        }
        Ended {
            metrics: queue.metrics(),
            messages: net.sent(),
            unknown: state.unknown.len(),
        }
    })
}

/// Simulates a seed in which nothing panics.
fn check(seed: u64) -> Ended {
    let (ended, panics) = noting_panics(|| simulate(seed));
    assert!(panics.is_empty(), "seed {seed}: {}", panics.join("; "));
    ended
}

#[test]
fn each_effect_happens_once_or_is_reported_as_unknown_over_many_seeds() {
    if let Ok(seed) = std::env::var("SEED") {
        check(seed.parse().unwrap());
        return;
    }
    let seeds = std::env::var("SEEDS").map_or(12, |seeds| seeds.parse().unwrap());
    let (mut lost, mut reassigned, mut duplicates, mut unknown) = (0, 0, 0, 0);
    let mut messages = 0;
    for seed in 0..seeds {
        let ended = check(seed);
        lost += ended.metrics.lost;
        reassigned += ended.metrics.reassigned;
        duplicates += ended.metrics.duplicates;
        unknown += ended.unknown;
        messages += ended.messages;
    }
    println!(
        "{seeds} seeds, {messages} messages: {lost} workers lost, {reassigned} tasks reassigned, {duplicates} second replies, {unknown} effects unknown"
    );
    // The conditions were bad enough to show something.
    assert!(lost > 0 && reassigned > 0);
}
