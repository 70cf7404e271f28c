//! Graphs that depend on more than the seed: the node is named.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use langgraph::prelude::*;
use langgraph_testing::simulate::simulate;

use crate::found;

fn finds(graph: Result<CompiledStateGraph<String>, CompilationErrors>, says: &str) {
    let result = simulate(&graph.unwrap()).seeds(0..10_000).run();
    let failure = found(result, says);
    assert!(failure.message().contains("`stamp`"), "{failure}");
}

const NOT_DETERMINISTIC: &str = "the same seed gives another history: after `stamp`";

#[test]
fn the_clock_of_the_machine_is_found() {
    #[node]
    async fn stamp(_: &String) -> String {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        format!("at {} ns", now.as_nanos())
    }
    finds(
        graph! { START => stamp => END }.compile(),
        NOT_DETERMINISTIC,
    );
}

#[test]
fn random_numbers_of_its_own_are_found() {
    #[node]
    async fn stamp(_: &String) -> String {
        RandomState::new().hash_one(1).to_string()
    }
    finds(
        graph! { START => stamp => END }.compile(),
        NOT_DETERMINISTIC,
    );
}

#[test]
fn state_in_a_static_is_found() {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    #[node]
    async fn stamp(_: &String) -> String {
        NUMBER.fetch_add(1, Ordering::Relaxed).to_string()
    }
    finds(
        graph! { START => stamp => END }.compile(),
        NOT_DETERMINISTIC,
    );
}

#[test]
fn the_order_of_a_hash_map_is_found() {
    #[node]
    async fn stamp(_: &String) -> String {
        let numbers: HashMap<u32, u32> = (0..64).map(|number| (number, number)).collect();
        format!("{:?}", numbers.keys())
    }
    finds(
        graph! { START => stamp => END }.compile(),
        NOT_DETERMINISTIC,
    );
}

#[test]
fn a_sleep_by_the_clock_of_the_machine_is_found() {
    #[node]
    async fn stamp(text: &String) -> String {
        std::thread::sleep(Duration::from_millis(4));
        text.clone()
    }
    if cfg!(target_os = "linux") {
        finds(
            graph! { START => stamp => END }.compile(),
            "blocks its thread",
        );
    }
}

#[test]
fn work_on_another_thread_is_found() {
    #[node]
    async fn stamp(text: &String) -> String {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || sender.send(()));
        let _ = receiver.await;
        text.clone()
    }
    finds(
        graph! { START => stamp => END }.compile(),
        "something outside the simulation",
    );
}

#[test]
fn blocking_work_of_tokio_is_found() {
    #[node]
    async fn stamp(text: &String) -> String {
        let read = tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(2)));
        let _ = read.await;
        text.clone()
    }
    finds(
        graph! { START => stamp => END }.compile(),
        "something outside the simulation",
    );
}

#[test]
fn a_socket_is_found() {
    #[node]
    async fn stamp(text: &String) -> Result<String, NodeError> {
        let socket = tokio::net::TcpStream::connect(("127.0.0.1", 9)).await;
        socket.map_err(NodeError::from)?;
        Ok(text.clone())
    }
    finds(
        graph! { START => stamp => END }.compile(),
        "something outside the simulation",
    );
}

#[test]
fn a_node_that_never_ends_is_found() {
    #[node]
    async fn stamp(text: &String) -> String {
        std::future::pending::<()>().await;
        text.clone()
    }
    finds(
        graph! { START => stamp => END }.compile(),
        "something outside the simulation",
    );
}

#[test]
fn waits_of_the_simulated_clock_take_no_time() {
    #[node]
    async fn stamp(_: &String, cx: &Context) -> Result<String, NodeError> {
        let before = cx.now().await?;
        tokio::time::sleep(Duration::from_secs(1800)).await;
        let passed = cx.now().await?.duration_since(before).unwrap_or_default();
        Ok(passed.as_secs().to_string())
    }
    let graph = graph! { START => stamp => END }.compile().unwrap();
    simulate(&graph)
        .seeds(0..100)
        .faults([])
        .invariant(|history| {
            let text = history.threads()[0].state().cloned().unwrap_or_default();
            let passed: u64 = text.parse().map_err(|_| text.clone())?;
            (1800..1802).contains(&passed).then_some(()).ok_or(text)
        })
        .run()
        .unwrap();
}
