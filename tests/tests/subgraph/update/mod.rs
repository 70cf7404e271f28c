//! Graphs inside a thread: looked at, looked back over and changed from outside.

mod errors;
mod history;
mod per_thread;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{CheckpointId, Checkpointer, Durability, ListOptions, Source};
use langgraph::error::{CheckpointError, SubgraphError};
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::Persistence;
use langgraph::thread::{Keep, StateUpdate, SubgraphPath};
use langgraph_tests::{Opened, open_saver};

use langgraph_tests::fixtures::notes::{Vec2, Vec2Update, asking, note};

/// Savers that keep values, bytes, and a file.
async fn savers() -> Vec<Opened> {
    let mut names = vec!["memory", "bytes"];
    if cfg!(feature = "sqlite") {
        names.push("sqlite");
    }
    let mut savers = Vec::new();
    for name in names {
        savers.push(open_saver(name).await.unwrap());
    }
    savers
}

fn compiled(graph: &StateGraph<Vec2>) -> CompiledStateGraph<Vec2> {
    graph.compile().unwrap()
}

/// `first`, then `ask`, then `last`.
fn inner() -> CompiledStateGraph<Vec2> {
    let mut inner = StateGraph::<Vec2>::new();
    inner
        .add_node("first", note("first"))
        .add_node("ask", asking("a"))
        .add_node("last", note("last"));
    inner.add_sequence(&["first", "ask", "last"]);
    compiled(&inner)
}

/// `before`, then the graph, then `after`.
fn around(
    inner: CompiledStateGraph<Vec2>,
    saver: &Arc<dyn Checkpointer>,
) -> CompiledStateGraph<Vec2> {
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("before", note("before"))
        .add_node("inner", inner)
        .add_node("after", note("after"));
    graph.add_sequence(&["before", "inner", "after"]);
    compiled(&graph).checkpointer(Arc::clone(saver))
}

fn wrote(line: &str) -> Vec2Update {
    Vec2Update::default().log(vec![line.to_owned()])
}

fn inside(graph: &CompiledStateGraph<Vec2>, path: impl Into<SubgraphPath>) -> Thread<Vec2> {
    graph.thread("t").subgraph(path).unwrap()
}

/// The graph inside as that checkpoint of the thread has it.
fn inside_at(
    graph: &CompiledStateGraph<Vec2>,
    at: CheckpointId,
    path: impl Into<SubgraphPath>,
) -> Thread<Vec2> {
    graph.thread("t").at(at).subgraph(path).unwrap()
}

async fn log_of(subgraph: &Thread<Vec2>) -> Vec<String> {
    subgraph.state().await.unwrap().unwrap().values.log
}

async fn next_of(subgraph: &Thread<Vec2>) -> Vec<String> {
    let state = subgraph.state().await.unwrap().unwrap();
    state.next.iter().map(ToString::to_string).collect()
}

async fn open_questions(graph: &CompiledStateGraph<Vec2>) -> Vec<String> {
    let state = graph.thread("t").state().await.unwrap().unwrap();
    state
        .interrupts
        .into_iter()
        .map(|asked| asked.key)
        .collect()
}

#[tokio::test]
async fn an_update_in_place_of_a_node_that_asks_is_gone_on_with() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        let inner = inside(&graph, "inner");
        assert_eq!(log_of(&inner).await, ["before", "first"]);
        assert_eq!(open_questions(&graph).await, ["a"]);

        inner.update(wrote("outside")).as_node("ask").await.unwrap();
        assert_eq!(log_of(&inner).await, ["before", "first", "outside"]);
        assert_eq!(next_of(&inner).await, ["last"]);
        // What the graph had asked is not asked any more, and its node is pending as before.
        assert!(open_questions(&graph).await.is_empty());
        let state = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(
            (state.values.log, &*state.next[0]),
            (vec!["before".to_owned()], "inner")
        );

        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "first", "outside", "last", "after"]);
    }
}

#[tokio::test]
async fn an_update_beside_a_node_that_asks_lets_it_ask_again() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        let asked = graph.run(()).thread("t").await.unwrap();
        let inner = inside(&graph, "inner");
        // As the node that ran last: `ask` comes next again.
        inner.update(wrote("outside")).await.unwrap();
        let again = graph.thread("t").proceed().await.unwrap();
        assert_eq!(again.interrupts()[0].key, "a");
        assert_ne!(again.interrupts()[0].id, asked.interrupts()[0].id);
        let state = graph
            .thread("t")
            .answer("yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(
            state.log,
            ["before", "first", "outside", "a: yes", "last", "after"]
        );
    }
}

#[tokio::test]
async fn a_graph_over_another_state_is_changed_at_a_breakpoint() {
    for Opened { saver, .. } in savers().await {
        let mut inner = StateGraph::<i64>::new();
        inner
            .add_node("double", |n: &i64| n * 2)
            .add_node("increment", |n: &i64| n + 1)
            .add_sequence(&["double", "increment"])
            .interrupt_before(["increment"]);
        let inner = inner.compile().unwrap();
        let mut graph = StateGraph::<Vec2>::new();
        graph.add_node(
            "inner",
            inner.mapped(|_: &Vec2| 5, |n: i64| wrote(&n.to_string())),
        );
        graph.add_sequence(&["inner"]);
        let graph = compiled(&graph).checkpointer(Arc::clone(&saver));
        graph.run(()).thread("t").await.unwrap();
        let inner = graph.thread("t").subgraph::<i64>("inner").unwrap();
        assert_eq!(inner.state().await.unwrap().unwrap().values, 10);
        inner.update(70).as_node("double").await.unwrap();
        assert_eq!(
            graph
                .thread("t")
                .proceed()
                .await
                .unwrap()
                .finished()
                .unwrap()
                .log,
            ["71"]
        );
    }
}

#[tokio::test]
async fn several_supersteps_are_written_inside() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        let inner = inside(&graph, "inner");
        let step = |line: &str, node: &str| [StateUpdate::new(wrote(line)).as_node(node)];
        inner
            .update_supersteps([step("x", "ask"), step("y", "last")])
            .await
            .unwrap();
        assert!(next_of(&inner).await.is_empty());
        let updates = ListOptions::new().source(Source::Update);
        assert_eq!(inner.history_with(updates).await.unwrap().len(), 2);
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "first", "x", "y", "after"]);
    }
}

#[tokio::test]
async fn e5_a_graph_inside_goes_back_to_an_earlier_checkpoint_of_its_own() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        let inner = inside(&graph, "inner");
        let history = inner.history().await.unwrap();
        let steps: Vec<_> = history
            .iter()
            .map(|s| (s.step, s.values.log.len()))
            .collect();
        assert_eq!(steps, [(1, 2), (0, 1), (-1, 1)]);

        // Again from its beginning: `first` runs once more.
        inner.at(history[1].id).fork().await.unwrap();
        let asked = graph.thread("t").proceed().await.unwrap();
        assert_eq!(asked.interrupts().len(), 1);
        assert_eq!(log_of(&inner).await, ["before", "first"]);
        // The old branch, a copy of `first` to come, and `ask` to come.
        assert_eq!(inner.history().await.unwrap().len(), 5);

        // And with a change: on the branch of the copy.
        let old = inner.history().await.unwrap().last().unwrap().id;
        inner
            .at(history[1].id)
            .update(wrote("instead"))
            .as_node("first")
            .await
            .unwrap();
        let lineage = inner.lineage().await.unwrap();
        assert_eq!(lineage[0].source, Source::Update);
        assert_eq!(lineage[1].id, history[1].id);
        assert_eq!(lineage.last().unwrap().id, old);
        let at = inner.at(history[0].id).state().await.unwrap().unwrap();
        assert_eq!(at.values.log, ["before", "first"]);
        let state = graph.thread("t").resume("a", "x").await;
        assert!(state.is_err(), "it has not asked on this branch");
        graph.thread("t").proceed().await.unwrap();
        let state = graph
            .thread("t")
            .answer("yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "instead", "a: yes", "last", "after"]);
    }
}

/// A graph with a subgraph: `mid` runs a node that interrupts and `inner` in parallel.
fn nested(saver: &Arc<dyn Checkpointer>) -> CompiledStateGraph<Vec2> {
    let mut mid = StateGraph::<Vec2>::new();
    mid.add_node("inner", inner())
        .add_node("own", asking("own"));
    mid.add_edge(START, "inner").add_edge(START, "own");
    around_mid(compiled(&mid), saver)
}

fn around_mid(
    mid: CompiledStateGraph<Vec2>,
    saver: &Arc<dyn Checkpointer>,
) -> CompiledStateGraph<Vec2> {
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("before", note("before"))
        .add_node("mid", mid)
        .add_node("after", note("after"));
    graph.add_sequence(&["before", "mid", "after"]);
    compiled(&graph).checkpointer(Arc::clone(saver))
}

#[tokio::test]
async fn a_change_two_graphs_deep_leaves_the_other_questions_open() {
    for Opened { saver, .. } in savers().await {
        let graph = nested(&saver);
        graph.run(()).thread("t").await.unwrap();
        assert_eq!(open_questions(&graph).await, ["a", "own"]);
        let deep = inside(&graph, ["mid", "inner"]);
        assert_eq!(log_of(&deep).await, ["before", "first"]);
        deep.update(wrote("outside")).as_node("ask").await.unwrap();
        assert_eq!(open_questions(&graph).await, ["own"]);
        let mid = inside(&graph, "mid")
            .state_with_subgraphs()
            .await
            .unwrap()
            .unwrap();
        let below = mid.tasks[0].inside::<Vec2>().unwrap();
        assert_eq!(below.values.log, ["before", "first", "outside"]);

        // The changed graph continues although the other task still waits.
        let outcome = graph.thread("t").proceed().await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1);
        assert_eq!(outcome.interrupts()[0].key, "own");
        assert_eq!(log_of(&deep).await, ["before", "first", "outside", "last"]);
        let state = graph
            .thread("t")
            .answer("yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(
            state.log,
            ["before", "first", "outside", "last", "own: yes", "after"]
        );
    }
}

#[tokio::test]
async fn an_answer_to_another_question_also_goes_on_with_a_change() {
    for Opened { saver, .. } in savers().await {
        let graph = nested(&saver);
        graph.run(()).thread("t").await.unwrap();
        let deep = inside(&graph, ["mid", "inner"]);
        deep.update(wrote("outside")).as_node("ask").await.unwrap();
        let state = graph
            .thread("t")
            .resume("own", "yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(
            state.log,
            ["before", "first", "outside", "last", "own: yes", "after"]
        );
    }
}

#[tokio::test]
async fn the_graph_in_between_is_changed_too() {
    for Opened { saver, .. } in savers().await {
        let graph = nested(&saver);
        graph.run(()).thread("t").await.unwrap();
        // Both of its tasks are dropped.
        inside(&graph, "mid")
            .update(wrote("mid"))
            .as_node("own")
            .await
            .unwrap();
        assert!(open_questions(&graph).await.is_empty());
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "mid", "after"]);
    }
}

/// Two tasks of one node.
fn sent(saver: &Arc<dyn Checkpointer>) -> CompiledStateGraph<Vec2> {
    let mut graph = StateGraph::<Vec2>::new();
    graph.add_node("inner", inner());
    graph.add_router(START, |_: &Vec2| {
        let state = |name: &str| Vec2 {
            log: vec![name.to_owned()],
        };
        vec![
            Send::state("inner", state("one")),
            Send::state("inner", state("two")),
        ]
    });
    compiled(&graph).checkpointer(Arc::clone(saver))
}

#[tokio::test]
async fn of_tasks_side_by_side_one_is_changed() {
    for Opened { saver, .. } in savers().await {
        let graph = sent(&saver);
        graph.run(()).thread("t").await.unwrap();
        let error = inside(&graph, "inner").state().await.unwrap_err();
        assert!(
            matches!(
                error,
                AgentError::Subgraph(SubgraphError::SeveralTasks { tasks: 2, .. })
            ),
            "{error}"
        );
        let path = |index| SubgraphPath::new("inner").instance(index);
        let error = inside(&graph, path(2)).state().await.unwrap_err();
        assert!(
            error.to_string().contains("there is no task `inner[2]`"),
            "{error}"
        );
        let (one, two) = (inside(&graph, path(0)), inside(&graph, path(1)));
        assert_eq!(log_of(&one).await, ["one", "first"]);
        assert_eq!(log_of(&two).await, ["two", "first"]);
        two.update(wrote("outside")).as_node("ask").await.unwrap();
        assert_eq!(open_questions(&graph).await, ["a"]);
        let state = graph
            .thread("t")
            .answer("yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(
            state.log,
            ["first", "a: yes", "last", "first", "outside", "last"]
        );
    }
}

#[tokio::test]
async fn what_is_pending_inside_can_be_cleared() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        let inner = inside(&graph, "inner");
        inner.clear_pending().await.unwrap();
        assert!(next_of(&inner).await.is_empty());
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "first", "after"]);
    }
}

#[tokio::test]
async fn an_input_is_put_beside_what_is_pending_inside() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        let inner = inside(&graph, "inner");
        inner.add_input(wrote("input")).await.unwrap();
        assert_eq!(log_of(&inner).await, ["before", "first"]);
        assert_eq!(next_of(&inner).await, [START, "ask"]);
        // START's edges are followed when the other task has ended: `first` runs beside `last`.
        graph.thread("t").proceed().await.unwrap();
        let outcome = graph.thread("t").answer("yes").await.unwrap();
        assert_eq!(
            outcome.interrupts().len(),
            1,
            "`ask` follows the second `first`"
        );
        let state = graph
            .thread("t")
            .answer("no")
            .await
            .unwrap()
            .finished()
            .unwrap();
        let before = [
            "before", "first", "input", "a: yes", "first", "last", "a: no", "last", "after",
        ];
        assert_eq!(state.log, before);
    }
}

#[tokio::test]
async fn a_run_inside_that_has_not_seen_a_change_is_refused() {
    for Opened { saver, .. } in savers().await {
        let arrived = Arc::new(tokio::sync::Notify::new());
        let go = Arc::new(tokio::sync::Notify::new());
        let runs = Arc::new(AtomicUsize::new(0));
        let mut inner = StateGraph::<Vec2>::new();
        let (a, g, counted) = (Arc::clone(&arrived), Arc::clone(&go), Arc::clone(&runs));
        inner.add_node("wait", move |_: Vec2| {
            let (a, g, counted) = (Arc::clone(&a), Arc::clone(&g), Arc::clone(&counted));
            async move {
                if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                    a.notify_one();
                    g.notified().await;
                }
                wrote("waited")
            }
        });
        inner.add_sequence(&["wait"]);
        let graph = around(compiled(&inner), &saver);
        let running = tokio::spawn({
            let graph = graph.clone();
            async move { graph.run(()).thread("t").await }
        });
        arrived.notified().await;
        let subgraph = inside(&graph, "inner");
        // A change of a subgraph is one of its thread.
        let refused = subgraph.update(wrote("outside")).await.unwrap_err();
        assert_eq!(
            refused.kind(),
            langgraph::error::ErrorKind::Conflict,
            "{refused}"
        );
        let update = subgraph.update(wrote("outside"));
        let takes_over = langgraph::thread::OnConflict::Cancel;
        update.on_conflict(takes_over).await.unwrap();
        go.notify_one();
        let error = running.await.unwrap().unwrap_err();
        assert!(
            matches!(
                error,
                AgentError::Checkpoint(CheckpointError::Conflict { .. })
            ),
            "{error}"
        );
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "outside", "waited", "after"]);
    }
}

#[tokio::test]
async fn how_a_run_is_stored_makes_no_difference_to_a_change_inside() {
    for Opened { saver, .. } in savers().await {
        for durability in [Durability::Async, Durability::Exit] {
            let graph = around(inner(), &saver);
            saver
                .administration()
                .unwrap()
                .delete_thread("t")
                .await
                .unwrap();
            graph
                .run(())
                .thread("t")
                .durability(durability)
                .await
                .unwrap();
            let inner = inside(&graph, "inner");
            inner.update(wrote("outside")).as_node("ask").await.unwrap();
            let outcome = graph
                .thread("t")
                .proceed()
                .durability(durability)
                .await
                .unwrap();
            assert_eq!(
                outcome.finished().unwrap().log,
                ["before", "first", "outside", "last", "after"]
            );
        }
    }
}

#[tokio::test]
async fn a_saver_of_a_graph_inside_is_not_used() {
    let own = open_saver("memory").await.unwrap().saver;
    for Opened { saver, .. } in savers().await {
        let graph = around(inner().checkpointer(Arc::clone(&own)), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").answer("yes").await.unwrap();
        assert_eq!(
            saver
                .administration()
                .unwrap()
                .logs("t")
                .await
                .unwrap()
                .len(),
            2
        );
        assert!(
            own.administration()
                .unwrap()
                .logs("t")
                .await
                .unwrap()
                .is_empty()
        );
    }
}

#[tokio::test]
async fn a_graph_in_a_node_that_was_renamed_is_found_by_either_name() {
    for Opened { saver, .. } in savers().await {
        nested(&saver).run(()).thread("t").await.unwrap();
        let mut mid = StateGraph::<Vec2>::new();
        mid.add_node("within", inner())
            .add_node("own", asking("own"));
        mid.add_edge(START, "within").add_edge(START, "own");
        mid.add_node_alias("inner", "within");
        let mut graph = StateGraph::<Vec2>::new();
        graph
            .add_node("before", note("before"))
            .add_node("middle", compiled(&mid))
            .add_node("after", note("after"));
        graph.add_sequence(&["before", "middle", "after"]);
        graph.add_node_alias("mid", "middle");
        let graph = compiled(&graph).checkpointer(Arc::clone(&saver));
        let deep = inside(&graph, ["mid", "within"]);
        assert_eq!(log_of(&deep).await, ["before", "first"]);
        let deep = inside(&graph, ["middle", "inner"]);
        deep.update(wrote("outside")).as_node("ask").await.unwrap();
        let state = graph
            .thread("t")
            .resume("own", "yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
        let lines = ["before", "first", "outside", "last", "own: yes", "after"];
        assert_eq!(state.log, lines);

        // In a copy of an older checkpoint the nodes have the names of today.
        let history = graph.thread("t").history().await.unwrap();
        let called = history
            .iter()
            .find(|s| s.next.iter().any(|n| &**n == "middle"))
            .unwrap();
        let then = inside_at(&graph, called.id, ["middle", "inner"]);
        let first = then.history().await.unwrap().pop().unwrap();
        then.at(first.id)
            .update(wrote("anew"))
            .as_node("ask")
            .await
            .unwrap();
        let outcome = graph.thread("t").proceed().await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1);
        let state = graph
            .thread("t")
            .answer("yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "anew", "last", "own: yes", "after"]);
    }
}
