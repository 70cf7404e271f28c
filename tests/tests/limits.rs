//! What a run may take: supersteps, time, tasks at once; and how it is stopped.

// What a test calls may panic like the test.
#![allow(clippy::unwrap_used)]
// A node's argument is a reference.
#![allow(clippy::trivially_copy_pass_by_ref)]

#[path = "support/ends.rs"]
mod ends;
use crate::ends::{ends, ends_paused};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::node::NodeRun;
use langgraph::prelude::*;
use langgraph::run::{CancelToken, Run};
use tokio::sync::Notify;
use tokio::time::Instant;

fn increment(n: &i64) -> i64 {
    n + 1
}

/// A chain of nodes that add one.
fn chain(length: usize) -> CompiledStateGraph<i64> {
    let names: Vec<_> = (0..length).map(|i| format!("n{i}")).collect();
    let mut graph = StateGraph::<i64>::new();
    for name in &names {
        graph.add_node(name.as_str(), increment);
    }
    graph.add_sequence(&names);
    graph.compile().unwrap()
}

/// A loop of synchronous nodes that never ends.
fn endless() -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("a", increment).add_node("b", |_: &i64| ());
    graph
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("b", "a");
    graph.compile().unwrap()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// How many of something are alive, and how many there were at most and in all.
#[derive(Clone, Default)]
struct Alive(Arc<Counts>);

#[derive(Default)]
struct Counts {
    now: AtomicUsize,
    most: AtomicUsize,
    ever: AtomicUsize,
    changed: Notify,
}

/// Counts as alive until it is dropped.
struct Guard(Alive);

impl Alive {
    fn guard(&self) -> Guard {
        let now = self.0.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        self.0.ever.fetch_add(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
        Guard(self.clone())
    }

    fn now(&self) -> usize {
        self.0.now.load(Ordering::SeqCst)
    }

    fn ever(&self) -> usize {
        self.0.ever.load(Ordering::SeqCst)
    }

    /// Waits until that many are alive.
    async fn reach(&self, count: usize) {
        loop {
            let changed = self.0.changed.notified();
            if self.now() == count {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.now.fetch_sub(1, Ordering::SeqCst);
        self.0.0.changed.notify_waiters();
    }
}

/// A node that holds a guard, for ever unless it is given a time.
struct Holds(Alive, Option<Duration>);

impl Node<i64> for Holds {
    fn run<'a>(&'a self, _: &'a i64, _: &'a Context) -> NodeRun<'a, i64> {
        NodeRun::future(async move {
            let _guard = self.0.guard();
            match self.1 {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        })
    }
}

/// This many parallel nodes that hold guards, and one node after them.
fn holders(alive: &Alive, count: usize, time: Option<Duration>) -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    for index in 0..count {
        let name = format!("n{index}");
        graph.add_node(name.as_str(), Holds(alive.clone(), time));
        graph.add_edge(START, name.as_str()).add_edge(name, "after");
    }
    graph.add_node("after", increment);
    graph.compile().unwrap()
}

#[tokio::test]
async fn b16_a_graph_of_exactly_as_many_supersteps_as_the_limit_finishes() {
    for length in [1, 2, 25] {
        let graph = chain(length);
        let expected = i64::try_from(length).unwrap();
        let state = graph.run(0).limit(length).await.unwrap().into_state();
        assert_eq!(state, expected);
        let error = chain(length + 1).run(0).limit(length).await.unwrap_err();
        let last = format!("n{length}");
        assert!(
            matches!(&error, AgentError::StepLimit { limit, next }
                if *limit == length && next.len() == 1 && *next[0] == *last),
            "{error}"
        );
    }
}

#[tokio::test]
async fn b16_an_endless_loop_ends_with_an_error_that_carries_the_limit() {
    let error = endless().invoke(0).await.unwrap_err();
    let expected = "step limit of 1000 reached, and `a` would run next; \
                    raise it with `.limit(n)`, or give the loop an exit";
    assert_eq!(error.to_string(), expected);
    let error = endless().run(0).limit(7).await.unwrap_err();
    assert!(matches!(error, AgentError::StepLimit { limit: 7, .. }));
}

#[tokio::test]
async fn b16_a_limit_of_nothing_is_refused() {
    let error = chain(1).run(0).limit(0).await.unwrap_err();
    assert!(matches!(error, AgentError::InvalidOption(_)), "{error}");
}

#[tokio::test]
async fn b16_each_call_of_a_subgraph_counts_its_own_supersteps() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("first", chain(3))
        .add_node("second", chain(3));
    graph.add_sequence(&["first", "second"]);
    let graph = graph.compile().unwrap();
    assert_eq!(graph.run(0).limit(3).await.unwrap().into_state(), 6);
    let error = graph.run(0).limit(2).await.unwrap_err();
    assert!(
        matches!(error, AgentError::StepLimit { limit: 2, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn b16_a_resumed_run_counts_from_its_own_start() {
    let graph = chain(4).checkpointer(Arc::new(MemorySaver::new()));
    graph.run(0).thread("t").limit(2).await.unwrap_err();
    let outcome = graph.thread("t").proceed().limit(2).await.unwrap();
    assert_eq!(outcome.into_state(), 4);
}

#[tokio::test]
async fn b17_a_token_stops_the_nodes_that_run() {
    // One runs inline, several as tasks of their own.
    for count in [1, 3] {
        let (alive, token) = (Alive::default(), CancelToken::new());
        let graph = holders(&alive, count, None);
        let run = tokio::spawn(graph.run(0).cancel(token.clone()).into_future());
        alive.reach(count).await;
        token.cancel();
        let error = run.await.unwrap().unwrap_err();
        assert!(matches!(error, AgentError::Cancelled), "{error}");
        alive.reach(0).await;
        assert_eq!(alive.ever(), count);
    }
}

#[tokio::test]
async fn b17_a_token_that_is_cancelled_already_lets_nothing_start() {
    let (alive, token) = (Alive::default(), CancelToken::new());
    token.cancel();
    let error = holders(&alive, 1, Some(ms(1)))
        .run(0)
        .cancel(token)
        .await
        .unwrap_err();
    assert!(matches!(error, AgentError::Cancelled), "{error}");
    assert_eq!(alive.ever(), 0);
}

#[tokio::test]
async fn b17_dropping_the_run_drops_the_nodes_that_run() {
    for count in [1, 3] {
        let alive = Alive::default();
        let run = tokio::spawn(holders(&alive, count, None).run(0).into_future());
        alive.reach(count).await;
        run.abort();
        alive.reach(0).await;
        assert!(run.await.unwrap_err().is_cancelled());
    }
}

#[tokio::test]
async fn b17_dropping_the_run_reaches_the_nodes_of_a_graph_inside() {
    for count in [1, 3] {
        let alive = Alive::default();
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("inner", holders(&alive, count, None))
            .add_sequence(&["inner"]);
        let graph = graph.compile().unwrap();
        let run = tokio::spawn(graph.run(0).into_future());
        alive.reach(count).await;
        run.abort();
        alive.reach(0).await;
    }
}

#[test]
fn b17_a_token_stops_a_loop_between_its_nodes() {
    ends(|| async {
        let token = CancelToken::new();
        let seen = token.clone();
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("a", move |n: &i64| {
            if *n == 5_000 {
                seen.cancel();
            }
            n + 1
        });
        graph.add_edge(START, "a").add_edge("a", "a");
        let run = graph
            .compile()
            .unwrap()
            .run(0)
            .limit(usize::MAX)
            .cancel(token);
        assert!(matches!(run.await, Err(AgentError::Cancelled)));
    });
}

#[test]
fn b18_a_timeout_around_a_loop_that_never_waits_fires() {
    ends(|| async {
        let run = endless().run(0).limit(usize::MAX);
        assert!(
            tokio::time::timeout(ms(20), run.into_future())
                .await
                .is_err()
        );
        let error = endless()
            .run(0)
            .limit(usize::MAX)
            .timeout(ms(20))
            .await
            .unwrap_err();
        assert!(
            matches!(error, AgentError::TimedOut(limit) if limit == ms(20)),
            "{error}"
        );
    });
}

#[test]
fn b18_a_loop_of_nodes_that_compute_for_long_is_stopped_soon() {
    ends(|| async {
        let mut graph = StateGraph::<i64>::new();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        graph.add_node("busy", move |n: &i64| {
            counted.fetch_add(1, Ordering::SeqCst);
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_micros(500) {
                std::hint::spin_loop();
            }
            n + 1
        });
        graph.add_edge(START, "busy").add_edge("busy", "busy");
        let run = graph
            .compile()
            .unwrap()
            .run(0)
            .limit(usize::MAX)
            .timeout(ms(20));
        assert!(matches!(run.await, Err(AgentError::TimedOut(_))));
        // A turn is given at least once in sixteen thousand supersteps; these take much longer than
        // the limit, so that it is given sooner.
        let count = count.load(Ordering::SeqCst);
        assert!(count < 4_000, "{count} supersteps in 20 ms");
    });
}

#[test]
fn b18_a_loop_that_never_waits_leaves_others_their_turn() {
    ends(|| async {
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            for _ in 0..100 {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        });
        let token = CancelToken::new();
        let run = endless().run(0).limit(usize::MAX).cancel(token.clone());
        let run = tokio::spawn(run.into_future());
        other.await.unwrap();
        token.cancel();
        assert!(matches!(run.await.unwrap(), Err(AgentError::Cancelled)));
        assert_eq!(turns.load(Ordering::SeqCst), 100);
    });
}

#[test]
fn a_run_ends_at_its_deadline_and_drops_its_nodes() {
    ends_paused(|| async {
        for count in [1, 3] {
            let (alive, start) = (Alive::default(), Instant::now());
            let error = holders(&alive, count, None)
                .run(0)
                .timeout(ms(1500))
                .await
                .unwrap_err();
            assert_eq!(error.to_string(), "the run exceeded its deadline of 1.5s");
            assert_eq!(start.elapsed(), ms(1500));
            alive.reach(0).await;
        }
        let state = holders(&Alive::default(), 3, Some(ms(1499)))
            .run(0)
            .timeout(ms(1500))
            .await;
        assert_eq!(state.unwrap().into_state(), 1);
    });
}

#[tokio::test(start_paused = true)]
async fn no_more_tasks_run_at_once_than_the_run_allows() {
    // At most so many, and so long for six tasks of 100 ms.
    for (limit, most, time) in [
        (1, 1, 600),
        (2, 2, 300),
        (4, 4, 200),
        (9, 6, 100),
        (0, 1, 600),
    ] {
        let (alive, start) = (Alive::default(), Instant::now());
        let graph = holders(&alive, 6, Some(ms(100)));
        graph.run(0).max_concurrency(limit).await.unwrap();
        assert_eq!(alive.0.most.load(Ordering::SeqCst), most, "limit {limit}");
        assert_eq!(
            (alive.ever(), start.elapsed()),
            (6, ms(time)),
            "limit {limit}"
        );
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Boom(&'static str);

/// Two nodes that fail, the second in the graph's order first in time, beside one that holds a
/// guard for a second.
fn failing(alive: &Alive) -> StateGraph<i64> {
    fn after(time: Duration, text: &'static str) -> impl Node<i64> {
        struct Fails(Duration, &'static str);
        impl Node<i64> for Fails {
            fn run<'a>(&'a self, _: &'a i64, _: &'a Context) -> NodeRun<'a, i64> {
                NodeRun::future(async move {
                    tokio::time::sleep(self.0).await;
                    Err::<(), _>(Boom(self.1))
                })
            }
        }
        Fails(time, text)
    }
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("late", after(ms(200), "late"))
        .add_node("early", after(ms(100), "early"))
        .add_node("holds", Holds(alive.clone(), Some(ms(1000))))
        .add_edge(START, "late")
        .add_edge(START, "early")
        .add_edge(START, "holds");
    graph
}

#[tokio::test(start_paused = true)]
async fn siblings_of_a_failed_node_finish_and_the_first_in_order_is_reported() {
    let (alive, start) = (Alive::default(), Instant::now());
    let error = failing(&alive)
        .compile()
        .unwrap()
        .invoke(0)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "node `late` failed: late");
    assert_eq!(start.elapsed(), ms(1000));
}

type Starts<'a> = &'a dyn Fn(&Alive) -> Run<i64>;

#[tokio::test(start_paused = true)]
async fn with_fail_fast_the_first_failure_stops_its_siblings_and_is_reported() {
    let inside = |alive: &Alive| {
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("inner", failing(alive).compile().unwrap())
            .add_sequence(&["inner"]);
        graph.compile().unwrap()
    };
    let by_graph = |alive: &Alive| failing(alive).fail_fast().compile().unwrap().run(0);
    let by_run = |alive: &Alive| failing(alive).compile().unwrap().run(0).fail_fast();
    let below = |alive: &Alive| inside(alive).run(0).fail_fast();
    let runs: [(Starts<'_>, &str); 3] = [
        (&by_graph, "early"),
        (&by_run, "early"),
        (&below, "inner/early"),
    ];
    for (run, name) in runs {
        let (alive, start) = (Alive::default(), Instant::now());
        let error = run(&alive).await.unwrap_err();
        assert_eq!(error.to_string(), format!("node `{name}` failed: early"));
        assert_eq!(start.elapsed(), ms(100));
        // Nothing continues after the error.
        assert_eq!((alive.now(), alive.ever()), (0, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn with_fail_fast_tasks_that_wait_for_their_turn_do_not_start() {
    let alive = Alive::default();
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("fails", |_: &i64| Err::<(), _>(Boom("at once")))
        .add_edge(START, "fails");
    for name in ["a", "b"] {
        graph
            .add_node(name, Holds(alive.clone(), Some(ms(1))))
            .add_edge(START, name);
    }
    let run = graph
        .fail_fast()
        .compile()
        .unwrap()
        .run(0)
        .max_concurrency(1);
    run.await.unwrap_err();
    assert_eq!(alive.ever(), 0);
}

#[tokio::test(start_paused = true)]
async fn with_fail_fast_what_had_finished_is_kept_for_the_resume() {
    let runs: [Arc<AtomicUsize>; 2] = [Arc::default(), Arc::default()];
    let [quick, flaky] = runs.clone();
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("quick", move |_: &i64| {
            quick.fetch_add(1, Ordering::SeqCst);
        })
        .add_node("flaky", move |n: &i64| {
            let (first, n) = (flaky.fetch_add(1, Ordering::SeqCst) == 0, *n);
            async move {
                tokio::time::sleep(ms(10)).await;
                if first { Err(Boom("first")) } else { Ok(n + 1) }
            }
        })
        .add_edge(START, "quick")
        .add_edge(START, "flaky")
        .fail_fast();
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    graph.run(4).thread("t").await.unwrap_err();
    assert_eq!(graph.thread("t").proceed().await.unwrap().into_state(), 5);
    let counts = runs.map(|count| count.load(Ordering::SeqCst));
    assert_eq!(counts, [1, 2]);
}
