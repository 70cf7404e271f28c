//! What a thread's log keeps between the runs of a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{Batch, Checkpointer, Durability, MemorySaver, ThreadKey};
use langgraph::node::Send;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_tests::fixtures::diary::{Diary, DiaryUpdate, wrote};

/// A node that writes its name.
fn writer(name: &'static str) -> impl Fn(&Diary) -> DiaryUpdate + Clone {
    move |_| wrote(name)
}

async fn ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "who?")?;
    Ok(wrote(answer))
}

fn kept(graph: &StateGraph<Diary>) -> CompiledStateGraph<Diary> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

async fn log_of(graph: &CompiledStateGraph<Diary>) -> Vec<String> {
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    snapshot.values.log
}

#[tokio::test]
async fn a_half_filled_join_survives_a_pause() {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("quick", writer("quick"))
        .add_node("slow", writer("slow"))
        .add_node("ask", ask)
        .add_node("both", writer("both"))
        .add_edge(START, "quick")
        .add_edge(START, "slow")
        .add_edge("slow", "ask")
        .add_edge(["ask", "quick"], "both")
        .add_edge("both", END);
    let graph = kept(&graph);

    let paused = graph.run(()).thread("t").await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    let done = graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(done.state().log, ["quick", "slow", "Ada", "both"]);
    assert_eq!(log_of(&graph).await, done.state().log);
}

#[tokio::test]
async fn what_a_goto_from_outside_started_is_in_the_log() {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("first", writer("first"))
        .add_node("beside", writer("beside"))
        .add_node("after", writer("after"))
        .add_edge(START, "first")
        .add_edge("first", END)
        .add_edge("beside", "after")
        .add_edge("after", END);
    let graph = kept(&graph);

    graph.run(()).thread("t").await.unwrap();
    let command = Command::update(wrote("update")).and_goto("beside");
    let done = graph.thread("t").proceed().command(command).await.unwrap();
    assert_eq!(done.state().log, ["first", "update", "beside", "after"]);
    assert_eq!(log_of(&graph).await, done.state().log);
    let history = graph.thread("t").history().await.unwrap();
    let logs: Vec<_> = history
        .iter()
        .map(|snapshot| snapshot.values.log.len())
        .collect();
    assert_eq!(logs, [4, 3, 2, 0, 0]);
}

#[tokio::test]
async fn a_goto_beside_a_question_is_not_run_twice() {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("ask", ask)
        .add_node("beside", writer("beside"))
        .add_edge(START, "ask")
        .add_edge("ask", END)
        .add_edge("beside", END);
    let graph = kept(&graph);

    graph.run(()).thread("t").await.unwrap();
    let goto = Command::goto("beside");
    let paused = graph.thread("t").proceed().command(goto).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    let done = graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(done.state().log, ["Ada", "beside"]);
    assert_eq!(log_of(&graph).await, ["Ada", "beside"]);
}

#[tokio::test]
async fn an_unknown_goto_from_outside_changes_nothing() {
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("a", writer("a")).add_sequence(&["a"]);
    let graph = kept(&graph);

    graph.run(()).thread("t").await.unwrap();
    let command = Command::update(wrote("lost")).and_goto("nowhere");
    let refused = graph.thread("t").proceed().command(command).await;
    assert!(matches!(refused, Err(AgentError::Routing { .. })));
    assert_eq!(log_of(&graph).await, ["a"]);
}

#[tokio::test]
async fn what_an_earlier_run_finished_is_reported_and_marked() {
    let failures = Arc::new(AtomicUsize::new(0));
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("fails_once", {
            let failures = Arc::clone(&failures);
            move |_: &Diary| match failures.fetch_add(1, Ordering::Relaxed) {
                0 => Err(NodeError::msg("no")),
                _ => Ok(wrote("fails_once")),
            }
        })
        .add_node("works", writer("works"))
        .add_edge(START, "fails_once")
        .add_edge(START, "works");
    let graph = kept(&graph);

    assert!(graph.run(()).thread("t").await.is_err());
    let mut events = graph.thread("t").proceed().stream(StreamMode::Updates);
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Update { node, cached, .. } = event.unwrap().kind {
            seen.push((node.to_string(), cached));
        }
    }
    let expected = [("works".to_owned(), true), ("fails_once".to_owned(), false)];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn a_snapshot_marks_sent_tasks() {
    let mut graph = StateGraph::<Diary>::new();
    let worker = graph.add_worker("worker", |line: String, _: &Diary| {
        let update = wrote(line);
        async move { update }
    });
    graph
        .add_node("plain", writer("plain"))
        .add_edge(START, "plain")
        .add_map(START, |_| ["one".to_owned(), "two".to_owned()], &worker)
        .interrupt_before(["plain"]);
    let graph = kept(&graph);

    graph.run(()).thread("t").await.unwrap();
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    let tasks: Vec<_> = snapshot
        .tasks
        .iter()
        .map(|task| (&*task.node, task.sent))
        .collect();
    assert_eq!(
        tasks,
        [("plain", false), ("worker", true), ("worker", true)]
    );
}

#[tokio::test]
async fn a_nodes_own_sends_come_before_its_routers() {
    let mut graph = StateGraph::<Diary>::new();
    let worker = graph.add_worker("worker", |line: String, _: &Diary| {
        let update = wrote(line);
        async move { update }
    });
    let own = worker.clone();
    graph
        .add_node("source", move |_: &Diary| {
            Command::goto(Send::to(&own, "own".to_owned())).and_edges()
        })
        .add_edge(START, "source")
        .add_map("source", |_| ["router".to_owned()], &worker);
    let state = graph.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(state.log, ["own", "router"]);
}

#[derive(Debug, thiserror::Error)]
#[error("busy")]
struct Busy;

#[tokio::test]
async fn a_retry_policy_sees_the_error_of_a_node_inside_a_subgraph() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let mut inner = StateGraph::<Diary>::new();
    inner
        .add_node("flaky", {
            let attempts = Arc::clone(&attempts);
            move |_: &Diary| match attempts.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Err(Busy),
                _ => Ok(wrote("done")),
            }
        })
        .add_sequence(&["flaky"]);
    let policy = RetryPolicy::attempts(3).immediately();
    let policy = policy.retry_on(|error| error.is::<Busy>() && error.is::<AgentError>());
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("inner", inner.compile().unwrap().retry(policy))
        .add_sequence(&["inner"]);
    let state = graph.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(state.log, ["done"]);
    assert_eq!(attempts.load(Ordering::Relaxed), 3);
}

/// A router that finds its way only when it is asked again.
fn lost_once(target: &'static str) -> impl Fn(&Diary) -> Result<&'static str, NodeError> + Clone {
    let asked = Arc::new(AtomicUsize::new(0));
    move |_: &Diary| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => Err(NodeError::msg("no way")),
        _ => Ok(target),
    }
}

/// The tasks of the thread: which node, whether it failed, whether it has finished.
async fn tasks_of(graph: &CompiledStateGraph<Diary>) -> Vec<(String, bool, bool)> {
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    let tasks = snapshot.tasks.iter();
    tasks
        .map(|task| {
            (
                task.node.to_string(),
                task.error.is_some(),
                task.result.is_some(),
            )
        })
        .collect()
}

fn task(node: &str, failed: bool, finished: bool) -> (String, bool, bool) {
    (node.to_owned(), failed, finished)
}

#[tokio::test]
async fn a_routers_failure_is_its_nodes_when_it_runs_alone() {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("a", writer("a"))
        .add_node("b", writer("b"))
        .add_edge(START, "a")
        .add_router("a", lost_once("b"))
        .add_edge("b", END);
    let graph = kept(&graph);

    let error = graph.run(()).thread("t").await.unwrap_err();
    assert_eq!(error.to_string(), "node `a` failed: no way");
    assert_eq!(tasks_of(&graph).await, [task("a", true, false)]);
    let done = graph.thread("t").proceed().await.unwrap();
    assert_eq!(done.state().log, ["a", "b"]);
    assert_eq!(log_of(&graph).await, ["a", "b"]);
}

#[tokio::test]
async fn an_unknown_target_fails_its_task_and_keeps_the_siblings() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = {
        let runs = Arc::clone(&runs);
        move |_: &Diary| {
            runs.fetch_add(1, Ordering::SeqCst);
            wrote("steady")
        }
    };
    let tries = AtomicUsize::new(0);
    let stray = move |_: &Diary| match tries.fetch_add(1, Ordering::SeqCst) {
        0 => Command::goto("nowhere").and_update(wrote("stray")),
        _ => Command::goto("after").and_update(wrote("stray")),
    };
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("stray", stray)
        .add_node("steady", counted)
        .add_node("after", writer("after"))
        .add_edge(START, "stray")
        .add_edge(START, "steady")
        .add_edge("after", END);
    let graph = kept(&graph);

    let error = graph.run(()).thread("t").await.unwrap_err();
    assert!(
        matches!(&error, AgentError::Routing { node, target, .. } if &**node == "stray" && target == "nowhere"),
        "{error}"
    );
    let expected = [task("stray", true, false), task("steady", false, true)];
    assert_eq!(tasks_of(&graph).await, expected);
    assert_eq!(log_of(&graph).await, ["steady"]);
    let done = graph.thread("t").proceed().await.unwrap();
    assert_eq!(done.state().log, ["stray", "steady", "after"]);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_unknown_target_is_the_same_error_alone_and_beside_others() {
    let lost = |_: &Diary| "nowhere";
    for siblings in [0, 1] {
        for on_a_thread in [false, true] {
            let mut graph = StateGraph::<Diary>::new();
            graph
                .add_node("a", writer("a"))
                .add_edge(START, "a")
                .add_router("a", lost);
            if siblings > 0 {
                graph.add_node("b", writer("b")).add_edge(START, "b");
            }
            let compiled = graph.compile().unwrap();
            let error = if on_a_thread {
                kept(&graph).run(()).thread("t").await.unwrap_err()
            } else {
                compiled.invoke(()).await.unwrap_err()
            };
            assert!(
                matches!(&error, AgentError::Routing { node, .. } if &**node == "a"),
                "{error:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_input_is_kept_when_the_routers_of_start_fail() {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("a", writer("a"))
        .add_router(START, lost_once("a"))
        .add_edge("a", END);
    let graph = kept(&graph);

    graph.run(wrote("in")).thread("t").await.unwrap_err();
    assert_eq!(tasks_of(&graph).await, [task(START, true, false)]);
    assert!(log_of(&graph).await.is_empty());
    let done = graph.thread("t").proceed().await.unwrap();
    assert_eq!(done.state().log, ["in", "a"]);
    let history = graph.thread("t").history().await.unwrap();
    let input = history.last().unwrap();
    assert_eq!(&*input.tasks[0].node, START);
    assert!(input.tasks[0].error.is_none());
    assert!(input.tasks[0].result.is_some());
}

#[tokio::test]
async fn an_input_beside_a_question_asks_the_routers_of_start() {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("ask", ask)
        .add_node("side", writer("side"))
        .add_router(
            START,
            |diary: &Diary| {
                if diary.log.is_empty() { "ask" } else { "side" }
            },
        )
        .add_edge("ask", END)
        .add_edge("side", END);
    let graph = kept(&graph);

    graph.run(()).thread("t").await.unwrap();
    graph.thread("t").add_input(wrote("more")).await.unwrap();
    let done = graph.thread("t").proceed().await.unwrap();
    assert_eq!(done.interrupts().len(), 1);
    let done = graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(done.state().log, ["more", "Ada", "side"]);
}

#[tokio::test]
async fn a_run_that_is_stored_at_its_end_has_one_checkpoint() {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("a", writer("a"))
        .add_node("ask", ask)
        .add_node("b", writer("b"))
        .add_sequence(&["a", "ask", "b"]);
    let graph = kept(&graph);
    let steps = async || -> Vec<i64> {
        let history = graph.thread("t").history().await.unwrap();
        history.iter().map(|snapshot| snapshot.step).collect()
    };

    let run = graph.run(wrote("in")).thread("t");
    let paused = run.durability(Durability::Exit).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    assert_eq!(steps().await, [1]);
    let run = graph
        .thread("t")
        .resume("name", "Ada")
        .durability(Durability::Exit);
    assert_eq!(run.await.unwrap().state().log, ["in", "a", "Ada", "b"]);
    assert_eq!(steps().await, [3, 1]);
    assert_eq!(log_of(&graph).await, ["in", "a", "Ada", "b"]);

    // Which node ran last is known without the checkpoints before.
    let head = graph.thread("t").history().await.unwrap()[1].id;
    graph.thread("t").at(head).update(wrote("x")).await.unwrap();
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(*snapshot.next[0], *"ask");
    assert_eq!(snapshot.values.log, ["in", "a", "x"]);
}

#[tokio::test]
async fn an_order_of_other_tasks_is_damage() {
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("a", writer("a")).add_sequence(&["a"]);
    for order in [vec![1], vec![0, 0], vec![0, 1]] {
        let saver = Arc::new(MemorySaver::new());
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(Arc::<MemorySaver>::clone(&saver));
        let thread = graph.thread("t");
        thread.run(Diary::default()).await.unwrap();
        thread.update(wrote("b")).await.unwrap();

        let key = ThreadKey::root("t");
        let mut stored = saver.load(&key, None).await.unwrap().unwrap();
        let mut entries = stored.records.pop().unwrap().entries;
        entries[0].order = order;
        let batch = Batch {
            head: Some(stored.head),
            entries,
            ..Batch::default()
        };
        saver.put(&key, batch).await.unwrap();
        let damaged = thread.state().await.unwrap_err().to_string();
        assert!(damaged.contains("an order of tasks"), "{damaged}");
    }
}
