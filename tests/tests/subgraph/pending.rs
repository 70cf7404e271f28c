//! Looking into the graphs inside pending tasks.

use std::sync::Arc;

use langgraph::checkpoint::{Durability, MemorySaver, Snapshot, TaskSnapshot};
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::Persistence;

use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visiting, wire, wired};

fn kept<S: State>(graph: &StateGraph<S>) -> CompiledStateGraph<S> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

/// `a` and `b`, with a pause before `b`.
fn pausing() -> StateGraph<Trail> {
    let mut graph = wired(&["a", "b"], "^>a a>b");
    graph.interrupt_before(["b"]);
    graph
}

fn names(snapshot: &Snapshot<Trail>) -> (String, String) {
    (snapshot.values.visits.join(" "), snapshot.next.join(" "))
}

fn pair(visits: &str, next: &str) -> (String, String) {
    (visits.to_owned(), next.to_owned())
}

#[tokio::test]
async fn a_pending_graph_shows_where_it_stands_to_any_depth() {
    for durability in [Durability::Sync, Durability::Exit] {
        let mut middle = visiting(&["first"]);
        // Options are around the node, not around the view of it.
        middle.add_node("deep", pausing().compile().unwrap().retry(2));
        wire(&mut middle, "^>first first>deep");
        let mut outer = visiting(&["before"]);
        outer.add_node("middle", middle.compile().unwrap());
        wire(&mut outer, "^>before before>middle");
        let graph = kept(&outer);

        let run = graph.run(()).thread("t").durability(durability);
        assert!(run.await.unwrap().interrupts().is_empty());
        let plain = graph.thread("t").state().await.unwrap().unwrap();
        assert!(plain.tasks[0].inside.is_none());
        let outer = graph.thread("t").state_with_subgraphs().await;
        let outer = outer.unwrap().unwrap();
        assert_eq!(names(&outer), pair("before@1", "middle"));
        assert_eq!(names(&outer), names(&plain));
        let middle = outer.tasks[0].inside::<Trail>().unwrap();
        assert_eq!(names(middle), pair("before@1 first@1", "deep"));
        let deep = middle.tasks[0].inside::<Trail>().unwrap();
        assert_eq!(names(deep), pair("before@1 first@1 a@1", "b"));
        assert!(deep.tasks[0].inside.is_none());

        // What can be said without the types.
        let middle = outer.tasks[0].inside.as_ref().unwrap();
        let deep = middle.inside("deep").unwrap();
        assert_eq!((deep.step(), deep.next().join(" ")), (1, "b".to_owned()));
        assert!(deep.typed::<i64>().is_none() && middle.inside("first").is_none());
        let wire = serde_json::to_value(deep).unwrap();
        assert_eq!(wire["next"], serde_json::json!(["b"]));

        let outcome = graph
            .thread("t")
            .proceed()
            .durability(durability)
            .await
            .unwrap();
        let end = "before@1 first@1 a@1 b@2";
        assert_eq!(outcome.finished().unwrap().visits.join(" "), end);
        let end = graph.thread("t").state_with_subgraphs().await;
        assert!(end.unwrap().unwrap().tasks.is_empty());
    }
}

#[tokio::test]
async fn a_graph_over_another_state_shows_its_own() {
    let mut inner = StateGraph::<i64>::new();
    inner.add_node("double", |n: &i64| n * 2);
    inner.add_node("ask", |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        Ok(n + cx.interrupt::<i64>("more", "how much more?")?)
    });
    inner.add_sequence(&["double", "ask"]);
    let mut outer = StateGraph::<Trail>::new();
    let mapped = inner.compile().unwrap().mapped(
        |trail: &Trail| i64::try_from(trail.round).unwrap(),
        |n: i64| TrailUpdate::default().visits(vec![n.to_string()]),
    );
    outer.add_node("inner", mapped).add_sequence(&["inner"]);
    let graph = kept(&outer);
    let outcome = graph
        .run(TrailUpdate::default().round(20))
        .thread("t")
        .await;
    let asked = outcome.unwrap().interrupts().to_vec();

    let snapshot = graph.thread("t").state_with_subgraphs().await;
    let snapshot = snapshot.unwrap().unwrap();
    let inside = snapshot.tasks[0].inside::<i64>().unwrap();
    assert_eq!((inside.values, &*inside.next[0]), (40, "ask"));
    // The question is one, wherever one looks.
    assert_eq!(inside.interrupts, asked);
    assert_eq!(snapshot.interrupts, asked);
    assert_eq!(
        snapshot.tasks[0].inside.as_ref().unwrap().interrupts(),
        asked
    );
    let id = inside.interrupts[0].id.clone();
    let outcome = graph.thread("t").resume(id, 2).await.unwrap();
    assert_eq!(outcome.finished().unwrap().visits, ["42"]);
}

#[tokio::test]
async fn side_by_side_each_task_shows_its_own() {
    let mut graph = visiting(&["other"]);
    graph.add_node("inner", pausing().compile().unwrap());
    graph.add_router(START, |_: &Trail| {
        let sent = |round: usize| {
            let visits = vec![format!("sent {round}")];
            let trail = Trail {
                visits,
                ..Trail::default()
            };
            Send::state("inner", trail)
        };
        vec![sent(1), sent(2)]
    });
    graph.add_edge(START, "other");
    let graph = kept(&graph);
    graph.run(()).thread("t").await.unwrap();
    let snapshot = graph.thread("t").state_with_subgraphs().await;
    let snapshot = snapshot.unwrap().unwrap();
    let inside: Vec<_> = snapshot
        .tasks
        .iter()
        .map(|task| (&*task.node, task.inside::<Trail>().map(names)))
        .collect();
    assert_eq!(
        inside,
        [
            ("other", None),
            ("inner", Some(pair("sent 1 a@1", "b"))),
            ("inner", Some(pair("sent 2 a@1", "b"))),
        ]
    );
}

#[tokio::test]
async fn what_has_finished_beside_what_waits_shows_how_it_ended() {
    for durability in [Durability::Sync, Durability::Exit] {
        let mut outer = StateGraph::<Trail>::new();
        outer
            .add_node("done", wired(&["a", "b"], "^>a a>b").compile().unwrap())
            .add_node("waits", pausing().compile().unwrap());
        wire(&mut outer, "^>done ^>waits");
        let graph = kept(&outer);
        let run = graph.run(()).thread("t").durability(durability);
        run.await.unwrap();
        let snapshot = graph.thread("t").state_with_subgraphs().await;
        let snapshot = snapshot.unwrap().unwrap();
        assert_eq!(names(&snapshot), pair("a@1 b@2", "waits"));
        let [done, waits] = &snapshot.tasks[..] else {
            panic!("{:?}", snapshot.tasks)
        };
        assert!(done.result.is_some() && waits.result.is_none());
        let inside = |task: &TaskSnapshot<Trail>| task.inside::<Trail>().map(names);
        assert_eq!(inside(done), Some(pair("a@1 b@2", "")));
        assert_eq!(inside(waits), Some(pair("a@1", "b")));
    }
}

#[tokio::test]
async fn an_old_checkpoint_shows_the_graphs_that_ran_behind_it() {
    let mut outer = visiting(&["before"]);
    outer.add_node("inner", pausing().compile().unwrap());
    wire(&mut outer, "^>before before>inner");
    let graph = kept(&outer);
    graph.run(()).thread("t").await.unwrap();
    let paused = graph.thread("t").state().await.unwrap().unwrap().id;
    graph.thread("t").proceed().await.unwrap();
    let then = graph.thread("t").at(paused).state_with_subgraphs().await;
    let then = then.unwrap().unwrap();
    assert_eq!(names(&then), pair("before@1", "inner"));
    let inside = then.tasks[0].inside::<Trail>().unwrap();
    assert_eq!(names(inside), pair("before@1 a@1 b@2", ""));

    let missing = graph.thread("u").state_with_subgraphs().await.unwrap();
    assert!(missing.is_none());
}

#[tokio::test]
async fn a_graph_that_keeps_its_state_shows_the_call_that_waits_and_one_that_keeps_nothing_nothing()
{
    for (persistence, expected) in [
        (
            Persistence::PerThread("k".to_owned()),
            Some(pair("a@1", "b")),
        ),
        (Persistence::None, None),
    ] {
        let inner = pausing().compile().unwrap().persistence(persistence);
        let mut outer = visiting(&["other"]);
        outer.add_node("inner", inner);
        wire(&mut outer, "^>inner inner>other");
        let graph = kept(&outer);
        graph.run(()).thread("t").await.unwrap();
        let snapshot = graph.thread("t").state_with_subgraphs().await;
        let snapshot = snapshot.unwrap().unwrap();
        assert_eq!(snapshot.tasks[0].inside::<Trail>().map(names), expected);
    }
}

#[tokio::test]
async fn a_graph_that_keeps_its_state_shows_what_it_remembers_before_it_is_called_again() {
    let mut inner = wired(&["a", "b"], "^>a a>b");
    inner.interrupt_before(["b"]);
    let inner = inner.compile().unwrap();
    let mut outer = visiting(&["before"]);
    let remembers = inner.persistence(Persistence::PerThread("k".to_owned()));
    outer.add_node("inner", remembers);
    wire(&mut outer, "^>before before>inner");
    outer.interrupt_before(["inner"]);
    let graph = kept(&outer);
    let thread = graph.thread("t");
    let inside = async |thread: Thread<Trail>| {
        let snapshot = thread.state_with_subgraphs().await.unwrap().unwrap();
        assert_eq!(&*snapshot.next.join(" "), "inner");
        let inside = snapshot.tasks[0].inside::<Trail>();
        inside.map(|inside| (names(inside), inside.tasks.len(), snapshot.id))
    };

    thread.run(()).await.unwrap();
    assert!(inside(thread.clone()).await.is_none());
    thread.proceed().await.unwrap();
    let (waits, tasks, then) = inside(thread.clone()).await.unwrap();
    assert_eq!((waits, tasks), (pair("before@1 a@1", "b"), 1));

    // The call that waited is left.
    thread.run(()).await.unwrap();
    let (remembered, tasks, _) = inside(thread.clone()).await.unwrap();
    assert_eq!((remembered, tasks), (pair("before@1 a@1", ""), 0));
    thread.proceed().await.unwrap();
    let (waits, tasks, _) = inside(thread.clone()).await.unwrap();
    assert_eq!((waits.1.as_str(), tasks), ("b", 1));
    assert!(inside(thread.at(then)).await.is_none());
}
