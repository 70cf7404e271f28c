//! Graphs that share a saver: each deletes, copies and prunes only what is its own, and what waits is not idle.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use langgraph::checkpoint::ThreadFilter;
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::Keep;
use langgraph_tests::ByteSaver;
use langgraph_wait::WaitExt as _;

/// What a thread does after its input.
const SLEEPS: i64 = 1;
const ASKS: i64 = 2;
const ENDS: i64 = 3;

/// The threads of a saver: the graph that each belongs to, and what it does.
type Model = BTreeMap<String, (usize, i64)>;

fn graph(number: usize, saver: &Arc<ByteSaver>) -> CompiledStateGraph<i64> {
    let node = |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        match *n {
            SLEEPS => cx.sleep_until(SystemTime::now() + Duration::from_secs(3_600))?,
            ASKS => drop(cx.interrupt::<String>("how much", "?")?),
            _ => {}
        }
        Ok(*n)
    };
    let mut graph = StateGraph::<i64>::new();
    graph.set_name(format!("graph {number}"));
    graph.add_node("node", node).add_sequence(&["node"]);
    graph.compile().unwrap().checkpointer(Arc::clone(saver))
}

fn is_foreign<T: std::fmt::Debug>(result: &Result<T, AgentError>) {
    let other = matches!(
        result,
        Err(AgentError::Checkpoint(CheckpointError::OtherGraph { .. }))
    );
    assert!(other, "{result:?}");
}

/// Does something to a thread by a graph.
async fn operate(graphs: &[CompiledStateGraph<i64>], model: &mut Model, dice: &mut Rng) {
    let number = dice.usize(..graphs.len());
    let graph = &graphs[number];
    let chosen = model.keys().nth(dice.usize(..model.len().max(1))).cloned();
    let Some(name) = chosen.filter(|_| dice.u8(..3) > 0) else {
        let (name, does) = (format!("t{}", dice.u32(..)), dice.i64(SLEEPS..=ENDS));
        graph.thread(&name).run(does).await.unwrap();
        model.insert(name, (number, does));
        return;
    };
    let thread = graph.thread(&name);
    let (owner, does) = model[&name];
    match dice.u8(..5) {
        0 => {
            let deleted = graph.threads().delete_idle(Duration::ZERO).await.unwrap();
            let before = model.len();
            model.retain(|_, of| *of != (number, ENDS));
            assert_eq!(deleted.threads, before - model.len());
        }
        1 => {
            let resumed = graph.threads().resume_pending(Duration::ZERO).await;
            assert!(resumed.unwrap().is_empty());
        }
        2 if owner == number => {
            thread.delete().await.unwrap();
            model.remove(&name);
        }
        2 => is_foreign(&thread.delete().await),
        3 if owner == number => thread.prune(Keep::Newest(1)).await.map(drop).unwrap(),
        3 => is_foreign(&thread.prune(Keep::Newest(1)).await),
        _ => {
            let copy = format!("t{}", dice.u32(..));
            let copied = thread.copy(&copy).await;
            if owner != number {
                return is_foreign(&copied);
            }
            copied.unwrap();
            model.insert(copy, (owner, does));
        }
    }
}

#[test]
fn a_graph_maintains_only_its_own_threads() {
    super::play(300, async |dice| {
        let saver = Arc::new(ByteSaver::default());
        let graphs: Vec<_> = (0..dice.usize(2..5)).map(|n| graph(n, &saver)).collect();
        let mut model = Model::new();
        for _ in 0..30 {
            operate(&graphs, &mut model, dice).await;
            for (number, graph) in graphs.iter().enumerate() {
                let listed = graph.threads().list(ThreadFilter::new()).await.unwrap();
                let listed: Vec<_> = listed.into_iter().map(|info| info.thread).collect();
                let own = model.iter().filter(|(_, (owner, _))| *owner == number);
                let own: Vec<_> = own.map(|(name, _)| name.clone()).collect();
                assert_eq!(listed, own, "the threads of graph {number}");
            }
        }
    });
}
