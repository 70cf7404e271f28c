//! How many tasks run at once, and what a failure does to the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::node::NodeRun;
use langgraph::prelude::*;
use langgraph::run::Run;
use langgraph_tests::fixtures::alive::{Alive, Holds, holders, ms};
use tokio::time::Instant;

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
        assert_eq!(alive.most(), most, "limit {limit}");
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
    assert_eq!(
        graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap(),
        5
    );
    let counts = runs.map(|count| count.load(Ordering::SeqCst));
    assert_eq!(counts, [1, 2]);
}

#[tokio::test]
async fn with_fail_fast_nothing_that_ended_beside_the_failure_runs_again() {
    const ITEMS: usize = 100;
    for streamed in [false, true] {
        let runs: Arc<[AtomicUsize]> = (0..ITEMS).map(|_| AtomicUsize::new(0)).collect();
        let counted = Arc::clone(&runs);
        let mut graph = StateGraph::<i64>::new();
        let worker = graph.add_worker("work", move |item: usize, _: &i64| {
            let earlier = counted[item].fetch_add(1, Ordering::SeqCst);
            async move {
                match (item, earlier) {
                    (0, 0) => Err(Boom("the first item")),
                    _ => Ok(()),
                }
            }
        });
        graph.add_map(START, |_: &i64| (0..ITEMS).collect::<Vec<_>>(), &worker);
        let graph = graph.fail_fast().compile().unwrap();
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let run = graph.run(4).thread("t");
        // All items end before the failure of the first is seen.
        let error = if streamed {
            run.stream(StreamMode::Tasks).finish().await.unwrap_err()
        } else {
            run.await.unwrap_err()
        };
        assert_eq!(error.to_string(), "node `work` failed: the first item");
        graph.thread("t").proceed().await.unwrap();
        let again = runs[1..]
            .iter()
            .filter(|runs| runs.load(Ordering::SeqCst) > 1);
        assert_eq!(again.count(), 0, "streamed: {streamed}");
        assert_eq!(runs[0].load(Ordering::SeqCst), 2);
    }
}
