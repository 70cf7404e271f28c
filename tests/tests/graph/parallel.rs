//! Several tasks in one superstep: overlap, order, conflicts, failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::error::InvalidUpdate;
use langgraph::node::Send;
use langgraph::prelude::*;
use tokio::sync::{Barrier, Notify};

use langgraph_tests::fixtures::trail::{
    Trail, TrailUpdate, assert_visits, visit, visited, visiting, wire, wired,
};

/// Returns when as many of these run at once as the run's barrier asks for.
async fn meet(_: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
    cx.resource::<Barrier>()?.wait().await;
    Ok(visited(cx))
}

/// Runs a graph in which two nodes [`meet`].
async fn run_meeting(graph: StateGraph<Trail>) -> Trail {
    let graph = graph.compile().unwrap();
    let run = graph.run(()).resource(Arc::new(Barrier::new(2)));
    soon(run.into_future()).await.unwrap().finished().unwrap()
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(10), future)
        .await
        .expect("the nodes do not overlap")
}

#[tokio::test]
async fn b6_branches_overlap_and_both_updates_are_there() {
    let mut graph = visiting(&["plan"]);
    graph.add_node("left", meet).add_node("right", meet);
    wire(&mut graph, "^>plan plan>left plan>right");
    let (plan, left, right) = (visit, meet, meet);
    let by_macro = graph! { START => plan => [left, right]; left => END; right => END; };
    for graph in [graph, by_macro] {
        let state = run_meeting(graph).await;
        assert_eq!(state.visits.join(" "), "plan@1 left@2 right@2");
    }
}

#[tokio::test]
async fn b7_several_entry_points_run_and_the_merge_sees_both() {
    let (task1, task2) = (meet, meet);
    let merge = |state: &Trail, cx: &Context| visited(cx).last(state.visits.join("+"));
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("task1", task1)
        .add_node("task2", task2)
        .add_node("merge", merge);
    wire(&mut graph, "^>task1 ^>task2 task1>merge task2>merge");
    let by_macro = graph! { START => [task1, task2] => merge => END };
    for graph in [graph, by_macro] {
        let state = run_meeting(graph).await;
        assert_eq!(state.visits.join(" "), "task1@1 task2@1 merge@2");
        assert_eq!(state.last, "task1@1+task2@1");
    }
}

#[tokio::test]
async fn max_concurrency_bounds_what_runs_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut graph = StateGraph::<Trail>::new();
    for index in 0..6 {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        let name = format!("n{index}");
        graph.add_node(name.clone(), move |_: &Trail| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
            }
        });
        graph.add_edge(START, name);
    }
    let graph = graph.compile().unwrap();
    for (limit, expected) in [
        (Some(1), 1),
        (Some(2), 2),
        (Some(100), 6),
        (None, 6),
        (Some(0), 1),
    ] {
        most.store(0, Ordering::SeqCst);
        let run = graph.run(());
        match limit {
            Some(limit) => run.max_concurrency(limit).await.unwrap(),
            None => run.await.unwrap(),
        };
        assert_eq!(most.load(Ordering::SeqCst), expected, "{limit:?}");
    }
}

#[tokio::test]
async fn b10_updates_are_merged_in_the_order_of_declaration() {
    // `z` is declared first, and its edge comes last.
    let graph = wired(&["z", "m", "a"], "^>a ^>m ^>z");
    let (z, m, a) = (visit, visit, visit);
    let by_macro = graph! { START => [z, m, a]; z => END; m => END; a => END; };
    assert_visits([graph, by_macro], "z@1 m@1 a@1").await;
}

#[tokio::test]
async fn two_edges_into_a_node_run_it_once_per_superstep_in_which_one_fires() {
    // From nodes of one superstep once, from nodes of two supersteps twice.
    let graph = wired(&["a", "b", "c"], "^>a ^>b a>c b>c");
    assert_visits([graph], "a@1 b@1 c@2").await;
    let graph = wired(&["a", "b", "b2", "c"], "^>a ^>b b>b2 a>c b2>c");
    assert_visits([graph], "a@1 b@1 b2@2 c@2 c@3").await;
}

async fn invalid(graph: &StateGraph<Trail>) -> InvalidUpdate {
    match graph.compile().unwrap().invoke(()).await.unwrap_err() {
        AgentError::InvalidUpdate(error) => error,
        other => panic!("{other}"),
    }
}

fn names(nodes: &[langgraph::graph::NodeName]) -> String {
    nodes
        .iter()
        .map(|name| &**name)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Parallel nodes that return these updates.
fn beside<const N: usize>(answers: [(&'static str, Command<Trail>); N]) -> StateGraph<Trail> {
    let mut graph = StateGraph::new();
    for (name, command) in answers {
        graph.add_node(name, move |_: &Trail| command.clone());
        graph.add_edge(START, name);
    }
    graph
}

fn last(text: &str) -> TrailUpdate {
    TrailUpdate::default().last(text.to_owned())
}

fn seen(text: &str) -> TrailUpdate {
    TrailUpdate::default().visits(vec![text.to_owned()])
}

#[tokio::test]
async fn b11_whole_states_beside_each_other_are_refused_with_both_names() {
    fn whole(state: &Trail) -> Trail {
        state.clone()
    }
    let mut graph = StateGraph::<Trail>::new();
    graph.add_node("first", whole).add_node("second", whole);
    wire(&mut graph, "^>second ^>first");
    let (first, second) = (whole, whole);
    let by_macro = graph! { START => [first, second]; first => END; second => END; };
    for graph in [graph, by_macro] {
        let error = invalid(&graph).await;
        let text = error.to_string();
        let InvalidUpdate::WholeState { node, others } = error else {
            panic!("{text}");
        };
        assert_eq!((&*node, names(&others).as_str()), ("first", "second"));
        assert!(
            text.contains("`first`") && text.contains("`second`"),
            "{text}"
        );
    }
    // Beside a node that writes nothing it is fine; beside an update it is not.
    let mut graph = StateGraph::<Trail>::new();
    graph.add_node("whole", |_: &Trail| Trail {
        round: 7,
        ..Trail::default()
    });
    graph.add_node("silent", |_: &Trail| ());
    wire(&mut graph, "^>whole ^>silent");
    assert_eq!(graph.compile().unwrap().invoke(()).await.unwrap().round, 7);
    graph.add_node("writes", visit).add_edge(START, "writes");
    let error = invalid(&graph).await;
    assert!(
        matches!(&error, InvalidUpdate::WholeState { others, .. } if names(others) == "writes")
    );
}

#[tokio::test]
async fn two_writes_of_one_plain_field_name_the_field_and_the_nodes() {
    let graph = beside([
        ("a", Command::update(last("a"))),
        ("quiet", Command::update(seen("quiet"))),
        ("b", Command::update(last("b").round(1))),
    ]);
    let error = invalid(&graph).await;
    assert!(error.to_string().contains("`last`"), "{error}");
    let InvalidUpdate::Conflict { field, nodes } = error else {
        panic!("{error}");
    };
    assert_eq!((field.as_str(), names(&nodes).as_str()), ("last", "a b"));
    // One field, one node each: no conflict.
    let graph = beside([
        ("a", Command::update(last("a").visits(vec!["a".to_owned()]))),
        ("b", Command::update(seen("b").round(1))),
    ]);
    let state = graph.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(
        (
            state.visits.join(" ").as_str(),
            state.last.as_str(),
            state.round
        ),
        ("a b", "a", 1)
    );
}

#[tokio::test]
async fn two_sends_of_one_worker_conflict_as_two_nodes_do() {
    let mut graph = StateGraph::<Trail>::new();
    let worker = graph.add_worker("worker", |n: usize, _: &Trail| async move {
        TrailUpdate::default().round(n)
    });
    graph.add_map(START, |_: &Trail| [1_usize, 2], &worker);
    let error = invalid(&graph).await;
    assert!(matches!(&error, InvalidUpdate::Conflict { field, nodes }
        if field == "round" && names(nodes) == "worker worker"));
}

#[tokio::test]
async fn the_first_conflict_is_always_the_same() {
    // Both fields clash; the one that is declared first is named.
    let graph = beside([
        ("a", Command::update(last("a").round(1))),
        ("b", Command::update(last("b").round(2))),
    ]);
    for _ in 0..20 {
        let error = invalid(&graph).await;
        assert!(matches!(&error, InvalidUpdate::Conflict { field, .. } if field == "last"));
    }
}

#[tokio::test]
async fn an_overwrite_sets_a_reduced_field_and_beats_plain_writes() {
    let graph = beside([
        ("a", Command::update(seen("a").last("a".to_owned()))),
        (
            "reset",
            Command::overwrite(seen("reset").last("reset".to_owned())),
        ),
        ("b", Command::update(seen("b").round(1))),
    ]);
    let graph = graph.compile().unwrap();
    let state = graph.invoke(seen("before")).await.unwrap();
    assert_eq!(
        (
            state.visits.join(" ").as_str(),
            state.last.as_str(),
            state.round
        ),
        ("reset", "reset", 1)
    );
}

#[tokio::test]
async fn the_overwrite_of_a_command_comes_after_its_own_update() {
    let graph = beside([(
        "a",
        Command::update(seen("update").round(1)).and_overwrite(seen("overwrite")),
    )]);
    let state = graph
        .compile()
        .unwrap()
        .invoke(seen("before"))
        .await
        .unwrap();
    assert_eq!(
        (state.visits.join(" ").as_str(), state.round),
        ("overwrite", 1)
    );
}

#[tokio::test]
async fn two_overwrites_conflict() {
    let graph = beside([
        ("a", Command::overwrite(seen("a"))),
        ("b", Command::update(seen("b"))),
        ("c", Command::overwrite(seen("c"))),
    ]);
    let error = invalid(&graph).await;
    assert!(
        matches!(&error, InvalidUpdate::Overwrites { field, nodes }
        if field == "visits" && names(nodes) == "a c"),
        "{error}"
    );
}

#[tokio::test]
async fn siblings_of_a_failed_task_finish_and_the_first_error_is_reported() {
    let (failed, finished) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let mut graph = StateGraph::<Trail>::new();
    let (wait, done) = (Arc::clone(&failed), Arc::clone(&finished));
    graph.add_node("sibling", move |_: &Trail| {
        let (wait, done) = (Arc::clone(&wait), Arc::clone(&done));
        async move {
            wait.notified().await;
            tokio::task::yield_now().await;
            done.fetch_add(1, Ordering::SeqCst);
        }
    });
    // The second to fail is first in the graph.
    let wait = Arc::new(Notify::new());
    let late = Arc::clone(&wait);
    graph.add_node("late", move |_: &Trail| {
        let late = Arc::clone(&late);
        async move {
            late.notified().await;
            Err::<(), _>(NodeError::msg("late"))
        }
    });
    graph.add_node("early", move |_: &Trail| {
        failed.notify_one();
        wait.notify_one();
        Err::<(), _>(NodeError::msg("early"))
    });
    graph.add_node("after", visit);
    wire(&mut graph, "^>sibling ^>late ^>early sibling>after");
    let error = soon(graph.compile().unwrap().invoke(())).await.unwrap_err();
    assert_eq!(error.to_string(), "node `late` failed: late");
    assert_eq!(finished.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_wide_fan_out_keeps_its_order() {
    let mut graph = StateGraph::<Trail>::new();
    let worker = graph.add_worker("square", |n: usize, _: &Trail| async move {
        // The later it is sent, the sooner it is done.
        for _ in n..200 {
            tokio::task::yield_now().await;
        }
        TrailUpdate::default().visits(vec![n.to_string()])
    });
    graph.add_router(START, move |_: &Trail| {
        (0..200).map(|n| Send::to(&worker, n)).collect::<Vec<_>>()
    });
    let state = graph.compile().unwrap().invoke(()).await.unwrap();
    let expected: Vec<_> = (0..200).map(|n: usize| n.to_string()).collect();
    assert_eq!(state.visits, expected);
}

/// A reducer that cannot read what it is to prepare.
struct Stumbles;

impl langgraph::state::Reducer<Vec<String>> for Stumbles {
    fn merge(&self, mut current: Vec<String>, update: Vec<String>) -> Vec<String> {
        current.extend(update);
        current
    }

    fn prepare(&self, update: &mut Vec<String>) {
        assert!(!update.contains(&"stone".to_owned()), "a stone");
    }
}

#[derive(State, Clone, Debug, Default)]
struct Path {
    #[reducer(Stumbles)]
    ahead: Vec<String>,
}

#[tokio::test]
async fn a_panic_behind_one_of_several_nodes_is_that_nodes_error() {
    let mut graph = StateGraph::<Path>::new();
    for (name, item) in [("left", "grass"), ("right", "stone")] {
        graph.add_node(name, move |_: &Path| {
            PathUpdate::default().ahead(vec![item.to_owned()])
        });
        graph.add_edge(START, name).add_edge(name, END);
    }
    let error = graph.compile().unwrap().invoke(()).await.unwrap_err();
    assert_eq!(error.to_string(), "node `right` failed: panicked: a stone");
}
