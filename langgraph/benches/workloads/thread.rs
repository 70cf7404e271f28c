//! Runs on a thread in memory. A durable saver runs these workloads in its own crate.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use langgraph::checkpoint::{Durability, MemorySaver};
use langgraph::prelude::*;

use super::measure::{Pair, Work, measured, work};
use super::react::{ByHand, Chat, ChatUpdate, graph, input};

/// Tool turns that store every superstep.
pub(crate) fn stored(
    turns: usize,
    durability: Durability,
    attach: impl Fn(CompiledStateGraph<Chat>) -> CompiledStateGraph<Chat> + Send + Sync + 'static,
) -> Work {
    let graph = graph(turns).compile().unwrap();
    let threads = AtomicUsize::new(0);
    work(move || {
        let graph = attach(graph.clone());
        let thread = threads.fetch_add(1, Ordering::Relaxed);
        let run = graph.run(input()).durability(durability);
        async move {
            let done = run.thread(format!("{durability:?}-{thread}")).await;
            assert_eq!(done.unwrap().state().messages.len(), 2 * turns + 2);
        }
    })
}

/// Tool turns stored in memory, compared with a loop that stores nothing.
pub(crate) fn react(turns: usize) -> Pair {
    let by_hand = ByHand::new(turns);
    let expected = 2 * turns + 2;
    let langgraph = stored(turns, Durability::Sync, |graph| {
        graph.checkpointer(Arc::new(MemorySaver::new()))
    });
    let baseline = work(move || {
        let by_hand = by_hand.clone();
        async move {
            let state = by_hand.run(Chat::default(), input()).await;
            assert_eq!(state.messages.len(), expected);
        }
    });
    Pair::new("ReAct turns, MemorySaver", turns, langgraph, baseline).target(3.0)
}

/// A superstep of a thread with this many messages, compared with a thread of a hundred.
pub(crate) fn grown(messages: usize) -> Pair {
    let (long, short) = (superstep_at(messages), superstep_at(100));
    Pair::new("superstep of a grown thread", messages, long, short).target(1.3)
}

/// The number of supersteps timed together: the last ones of a run.
const STEPS: usize = 512;

/// The time between two nodes of a run whose thread has grown step by step to this many messages.
/// It excludes loading the thread and returning its state.
fn superstep_at(messages: usize) -> Work {
    let clock: Arc<Mutex<Vec<Instant>>> = Arc::default();
    let ticks = Arc::clone(&clock);
    let mut graph = StateGraph::<Chat>::new();
    graph.add_node("say", move |_: &Chat| {
        ticks.lock().unwrap().push(Instant::now());
        ChatUpdate::default().messages(vec![Message::assistant("and so on")])
    });
    let more = move |state: &Chat| {
        if state.messages.len() < messages + STEPS {
            "say"
        } else {
            END
        }
    };
    graph
        .add_edge(START, "say")
        .add_conditional_edges("say", more, ["say", END]);
    let graph = graph.compile().unwrap();
    measured(move || {
        let graph = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
        let clock = Arc::clone(&clock);
        async move {
            clock.lock().unwrap().clear();
            let run = graph.run(input()).thread("t").limit(messages + STEPS);
            run.await.unwrap();
            let ticks = clock.lock().unwrap();
            let first = ticks.iter().rev().nth(STEPS - 1).unwrap();
            ticks.last().unwrap().duration_since(*first)
        }
    })
}
