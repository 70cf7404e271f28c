//! Several runs on one thread: no update is lost, and no run forks the thread unasked.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use langgraph::checkpoint::{Batch, Checkpointer, Durability, MemorySaver, ThreadKey};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::run::Persistence;
use langgraph::thread::OnConflict;
use tokio::sync::Notify;

use langgraph_tests::fixtures::diary::{
    Diary, DiaryUpdate, World, ask, graph_in, log_of, memory, note, over, shown, state, world,
    wrote,
};
use langgraph_tests::fixtures::faulty_saver::{Fault, Faulty, faulty};

/// Lets a test hold a node.
#[derive(Default)]
struct Gate {
    reached: Notify,
    open: Notify,
}

/// A node that waits at the gate, if there is one.
async fn held(_: &Diary, cx: &Context) -> DiaryUpdate {
    if let Ok(gate) = cx.resource::<Gate>() {
        gate.reached.notify_one();
        gate.open.notified().await;
    }
    world(cx).effect("held");
    wrote("held")
}

fn holding(saver: &Arc<dyn Checkpointer>, world: &Arc<World>) -> CompiledStateGraph<Diary> {
    let mut graph = graph_in(world);
    graph.add_node("held", held).add_node("after", note);
    graph.add_sequence(&["held", "after"]);
    over(&graph, saver)
}

fn is_conflict<T>(result: &Result<T, AgentError>) -> bool {
    matches!(
        result,
        Err(AgentError::Checkpoint(
            CheckpointError::Conflict { .. } | CheckpointError::Held { .. }
        ))
    )
}

#[tokio::test]
async fn a_run_that_waits_comes_after_the_other_and_both_updates_are_there() {
    let graph = holding(&memory(), &World::new());
    let gate = Arc::new(Gate::default());
    let wait = OnConflict::Wait(Duration::from_secs(30));
    let first = graph.run(wrote("first")).thread("t").on_conflict(wait);
    let first = tokio::spawn(first.resource(Arc::clone(&gate)).into_future());
    gate.reached.notified().await;
    let second = graph.run(wrote("second")).thread("t").on_conflict(wait);
    let second = tokio::spawn(second.into_future());
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!second.is_finished());
    gate.open.notify_one();
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    let expected = ["first", "held", "after@2", "second", "held", "after@5"];
    assert_eq!(log_of(&graph, "t").await, expected);
}

#[tokio::test]
async fn many_that_wait_come_one_after_the_other() {
    let graph = holding(&memory(), &World::new());
    let wait = OnConflict::Wait(Duration::from_secs(30));
    let runs = (0..8).map(|index| {
        let run = graph.run(wrote(format!("{index}"))).thread("t");
        tokio::spawn(run.on_conflict(wait).into_future())
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap().unwrap();
    }
    let log = log_of(&graph, "t").await;
    assert_eq!(log.len(), 24);
    for turn in log.chunks(3) {
        assert!(
            turn[0].parse::<i64>().is_ok() && turn[1] == "held",
            "{turn:?}"
        );
    }
}

#[tokio::test]
async fn waiting_has_an_end() {
    let graph = holding(&memory(), &World::new());
    let gate = Arc::new(Gate::default());
    let wait = |millis| OnConflict::Wait(Duration::from_millis(millis));
    let first = graph
        .run(wrote("first"))
        .thread("t")
        .on_conflict(wait(30_000));
    let first = tokio::spawn(first.resource(Arc::clone(&gate)).into_future());
    gate.reached.notified().await;
    let second = graph.run(wrote("second")).thread("t").on_conflict(wait(20));
    let error = second.await.unwrap_err();
    let AgentError::Checkpoint(CheckpointError::Held { thread, waited, .. }) = error else {
        panic!("{error}")
    };
    assert_eq!(thread, "t");
    assert!(waited >= Duration::from_millis(20), "{waited:?}");
    // None of its writes exist; and a dropped run releases its lease.
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let third = graph.thread("t").proceed().on_conflict(wait(30_000));
    third.await.unwrap();
    assert_eq!(log_of(&graph, "t").await, ["first", "held", "after@2"]);
}

#[tokio::test]
async fn a_lease_that_is_not_renewed_runs_out() {
    let saver = memory();
    let graph = holding(&saver, &World::new());
    let term = Duration::from_millis(50);
    let leases = saver.leases().unwrap();
    assert!(
        leases
            .lease("t", "a process that died", term)
            .await
            .unwrap()
            .is_none()
    );
    let wait = |wait| OnConflict::Wait(Duration::from_millis(wait));
    let run = graph.run(()).thread("t").on_conflict(wait(0));
    assert!(run.await.is_err());
    let run = graph.run(()).thread("t").on_conflict(wait(30_000));
    assert!(run.await.unwrap().is_done());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_has_lost_its_lease_ends() {
    let faulty = faulty(&memory(), None);
    let saver: Arc<dyn Checkpointer> = Arc::<Faulty>::clone(&faulty);
    let world = World::new();
    let graph = holding(&saver, &world);
    let gate = Arc::new(Gate::default());
    let run = graph.run(()).thread("t").resource(Arc::clone(&gate));
    let run = run.on_conflict(OnConflict::Wait(Duration::ZERO));
    let run = tokio::spawn(run.into_future());
    gate.reached.notified().await;
    // Renewed again and again.
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert!(!run.is_finished());
    faulty
        .intercept()
        .steals_leases
        .store(true, Ordering::SeqCst);
    let error = run.await.unwrap().unwrap_err();
    assert!(matches!(
        error,
        AgentError::Checkpoint(CheckpointError::LeaseLost { .. })
    ));
    assert!(world.effects().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_given_back_fails_no_run() {
    let calls = {
        let counted = faulty(&memory(), None);
        waits_for_its_turn(&counted).await.unwrap();
        counted.intercept().calls()
    };
    // Giving it back is the last thing that a run does.
    let faulty = faulty(&memory(), Some((calls - 1, Fault::Fails)));
    let ended = waits_for_its_turn(&faulty).await.unwrap();
    assert!(ended.is_done());
    assert!(faulty.intercept().calls() >= calls);
}

async fn waits_for_its_turn(saver: &Arc<Faulty>) -> Result<Outcome<Diary>, AgentError> {
    let saver: Arc<dyn Checkpointer> = Arc::<Faulty>::clone(saver);
    let mut graph = graph_in(&World::new());
    graph.add_node("a", note).add_sequence(&["a"]);
    let run = over(&graph, &saver).run(()).thread("t");
    run.on_conflict(OnConflict::Wait(Duration::ZERO)).await
}

#[tokio::test]
async fn a_run_that_cancels_goes_ahead_and_the_other_fails() {
    for nested in [false, true] {
        let world = World::new();
        let saver = memory();
        let mut inner = StateGraph::<Diary>::new();
        inner.add_node("held", held).add_node("after", note);
        inner.add_sequence(&["held", "after"]);
        let mut graph = graph_in(&world);
        if nested {
            graph
                .add_node("inner", inner.compile().unwrap())
                .add_sequence(&["inner"]);
        } else {
            graph.add_node("held", held).add_node("after", note);
            graph.add_sequence(&["held", "after"]);
        }
        let graph = over(&graph, &saver);
        let gate = Arc::new(Gate::default());
        let old = graph
            .run(wrote("first"))
            .thread("t")
            .resource(Arc::clone(&gate));
        let old = tokio::spawn(old.into_future());
        gate.reached.notified().await;
        let new = graph.thread("t").proceed().on_conflict(OnConflict::Cancel);
        let state = new.await.unwrap().finished().unwrap();
        assert_eq!(state.log, ["first", "held", "after@2"]);
        let history = shown(&graph, "t").await;
        gate.open.notify_one();
        let old = old.await.unwrap();
        assert!(is_conflict(&old), "{old:?}");
        // It has left nothing behind.
        assert_eq!(shown(&graph, "t").await, history);
        assert_eq!(world.times("after@2"), 1);
    }
}

#[tokio::test]
async fn j6_of_two_answers_at_the_same_time_one_wins() {
    let mut won = [0, 0];
    for round in 0..20 {
        let world = World::new();
        let mut graph = graph_in(&world);
        graph.add_node("ask", ask).add_node("after", note);
        graph.add_sequence(&["ask", "after"]);
        let faulty: Arc<dyn Checkpointer> = faulty(&memory(), None);
        let graph = over(&graph, &faulty);
        graph.run(wrote("in")).thread("t").await.unwrap();
        let names = ["Ada", "Bob"];
        let run = async |index: usize, first: usize| {
            for _ in 0..first {
                tokio::task::yield_now().await;
            }
            graph.thread("t").resume("name", names[index]).await
        };
        let (ada, bob) = tokio::join!(run(0, round % 5), run(1, round % 3));
        let winner = match (&ada, &bob) {
            (Ok(_), Err(_)) => 0,
            (Err(_), Ok(_)) => 1,
            both => panic!("{both:?}"),
        };
        won[winner] += 1;
        let loser = if winner == 0 { bob } else { ada };
        assert!(is_conflict(&loser) || too_late(&loser), "{loser:?}");
        let expected = ["in", names[winner], "after@2"];
        assert_eq!(log_of(&graph, "t").await, expected);
        assert_eq!(
            world.effects(),
            [format!("asked {}", names[winner]), "after@2".to_owned()]
        );
    }
    assert!(won[0] > 0 && won[1] > 0, "{won:?}");
}

/// The other one had been taken up already.
fn too_late<T>(result: &Result<T, AgentError>) -> bool {
    matches!(
        result,
        Err(AgentError::Checkpoint(
            CheckpointError::NothingToResume { .. }
        ))
    )
}

#[tokio::test]
async fn j6_no_update_is_lost_when_everybody_tries_again() {
    let faulty: Arc<dyn Checkpointer> = faulty(&memory(), None);
    let mut graph = graph_in(&World::new());
    graph
        .add_node("a", |_: &Diary| wrote("a"))
        .add_sequence(&["a"]);
    let graph = over(&graph, &faulty);
    let mut conflicts = 0;
    let clients = (0..4).map(|client| {
        let graph = graph.clone();
        tokio::spawn(async move {
            let mut conflicts = 0;
            for number in 0..10 {
                let line = format!("{client}.{number}");
                while !arrived(&graph, &line).await {
                    let ended = graph.run(wrote(&line)).thread("t").await;
                    if let Err(error) = ended {
                        assert!(is_conflict::<()>(&Err(error)));
                        conflicts += 1;
                    }
                }
            }
            conflicts
        })
    });
    for client in clients.collect::<Vec<_>>() {
        conflicts += client.await.unwrap();
    }
    assert!(conflicts > 0);
    // One branch: no run has forked the thread.
    let history = graph.thread("t").history().await.unwrap();
    let lineage = graph.thread("t").lineage().await.unwrap();
    assert_eq!(history.len(), lineage.len());
    let log = log_of(&graph, "t").await;
    let mut lines: Vec<_> = log.iter().filter(|line| *line != "a").collect();
    lines.sort();
    let all = (0..4).flat_map(|client| (0..10).map(move |number| format!("{client}.{number}")));
    assert_eq!(lines, all.collect::<Vec<_>>().iter().collect::<Vec<_>>());
}

/// True when that line is in the thread, or in an input that no run has taken yet.
async fn arrived(graph: &CompiledStateGraph<Diary>, line: &str) -> bool {
    let Some(state) = graph.thread("t").state().await.unwrap() else {
        return false;
    };
    state.values.log.iter().any(|known| known == line)
}

/// A graph that a node calls.
struct Inside(CompiledStateGraph<Diary>);

/// A node that waits at the gate, and calls a graph then.
async fn held_outside(diary: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let gate = cx.resource::<Gate>()?;
    gate.reached.notify_one();
    gate.open.notified().await;
    let inside = cx.resource::<Inside>()?;
    cx.run(&inside.0, diary.clone()).await?;
    Ok(wrote("called"))
}

fn calling(
    saver: &Arc<dyn Checkpointer>,
    world: &Arc<World>,
    kept: bool,
) -> CompiledStateGraph<Diary> {
    let mut inner = graph_in(world);
    inner.add_node("note", note).add_sequence(&["note"]);
    let mut inner = inner.compile().unwrap();
    if kept {
        inner = inner.persistence(Persistence::PerThread("expert".into()));
    }
    let mut graph = graph_in(world);
    graph.resource(Arc::new(Inside(inner)));
    graph.add_node("held", held_outside).add_sequence(&["held"]);
    over(&graph, saver)
}

#[tokio::test]
async fn a_thread_that_is_deleted_under_a_run_leaves_no_log_of_a_graph_inside() {
    for kept in [false, true] {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            let saver = memory();
            let graph = calling(&saver, &World::new(), kept);
            let gate = Arc::new(Gate::default());
            let run = graph.run(wrote("in")).thread("t").durability(durability);
            let run = tokio::spawn(run.resource(Arc::clone(&gate)).into_future());
            gate.reached.notified().await;
            graph.thread("t").delete().await.unwrap();
            gate.open.notify_one();
            let ended = run.await.unwrap();
            let logs = saver.administration().unwrap().logs("t").await.unwrap();
            if durability == Durability::Exit {
                // It had stored nothing yet: its end makes the thread.
                assert!(ended.is_ok() && !logs.is_empty(), "{kept} {ended:?}");
                continue;
            }
            assert!(is_conflict(&ended), "{kept} {durability:?} {ended:?}");
            assert_eq!(logs, [], "{kept} {durability:?}");
        }
    }
}

#[tokio::test]
async fn a_conflict_that_is_found_late_is_a_conflict() {
    for nested in [false, true] {
        for parallel in [false, true] {
            let (saver, world) = (memory(), World::new());
            let mut inner = StateGraph::<Diary>::new();
            for name in ["one", "two", "three"] {
                inner.add_node(name, note);
            }
            inner.add_sequence(&["one", "two", "three"]);
            let mut graph = graph_in(&world);
            graph.add_node("held", held).add_node("beside", note);
            graph.add_node("end", note);
            if nested {
                graph.add_node("after", inner.compile().unwrap());
            } else {
                graph.add_node("after", note);
            }
            graph.add_edge(START, "held").add_edge("held", "after");
            if parallel {
                graph
                    .add_edge("held", "beside")
                    .add_edge(["after", "beside"], "end");
            } else {
                graph.add_edge("after", "end").add_edge("end", "beside");
            }
            let graph = over(&graph, &saver);
            let gate = Arc::new(Gate::default());
            let run = graph
                .run(wrote("in"))
                .thread("t")
                .durability(Durability::Async);
            let run = tokio::spawn(run.resource(Arc::clone(&gate)).into_future());
            gate.reached.notified().await;
            // Past the lease, as a process does that believes it over.
            let key = ThreadKey::root("t");
            let mut head = None;
            while head.is_none() {
                tokio::task::yield_now().await;
                head = saver.head(&key).await.unwrap();
            }
            let batch = Batch {
                head,
                ..Batch::default()
            };
            saver.put(&key, batch).await.unwrap();
            gate.open.notify_one();
            let ended = run.await.unwrap();
            assert!(is_conflict(&ended), "{nested} {parallel}: {ended:?}");
        }
    }
}

#[tokio::test]
async fn who_comes_later_is_refused_at_its_start() {
    let graph = holding(&memory(), &World::new());
    let gate = Arc::new(Gate::default());
    let first = graph.run(wrote("first")).thread("t");
    let first = tokio::spawn(first.resource(Arc::clone(&gate)).into_future());
    gate.reached.notified().await;
    let thread = graph.thread("t");
    let second = graph.run(wrote("second")).thread("t").await.map(drop);
    let update = thread
        .update(wrote("update"))
        .as_node("held")
        .await
        .map(drop);
    let input = thread.add_input(wrote("input")).await.map(drop);
    for later in [second, update, input] {
        let held = AgentError::Checkpoint(CheckpointError::Held {
            thread: "t".to_owned(),
            waited: Duration::ZERO,
            until: std::time::SystemTime::now() + Duration::from_secs(30),
        });
        let error = later.unwrap_err().to_string();
        // Both say who and until when, to the second.
        assert_eq!(
            error.split(" in ").next(),
            held.to_string().split(" in ").next()
        );
    }
    gate.open.notify_one();
    first.await.unwrap().unwrap();
    assert_eq!(log_of(&graph, "t").await, ["first", "held", "after@2"]);
}

#[tokio::test]
async fn the_policy_of_a_graph_is_that_of_all_calls() {
    let graph = holding(&memory(), &World::new());
    let graph = graph.on_conflict(OnConflict::Wait(Duration::from_secs(30)));
    let gate = Arc::new(Gate::default());
    let first = graph.run(wrote("first")).thread("t");
    let first = tokio::spawn(first.resource(Arc::clone(&gate)).into_future());
    gate.reached.notified().await;
    let update = graph.thread("t").update(wrote("update")).as_node("after");
    let update = tokio::spawn(update.into_future());
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!update.is_finished());
    gate.open.notify_one();
    first.await.unwrap().unwrap();
    update.await.unwrap().unwrap();
    assert_eq!(
        log_of(&graph, "t").await,
        ["first", "held", "after@2", "update"]
    );
}

#[tokio::test]
async fn j6_an_update_that_takes_the_thread_over_refuses_the_run() {
    let graph = holding(&memory(), &World::new());
    let gate = Arc::new(Gate::default());
    let run = graph
        .run(wrote("in"))
        .thread("t")
        .resource(Arc::clone(&gate));
    let run = tokio::spawn(run.into_future());
    gate.reached.notified().await;
    graph
        .thread("t")
        .update(wrote("update"))
        .as_node("held")
        .on_conflict(OnConflict::Cancel)
        .await
        .unwrap();
    gate.open.notify_one();
    assert!(is_conflict(&run.await.unwrap()));
    assert_eq!(log_of(&graph, "t").await, ["in", "update"]);
    assert_eq!(state(&graph, "t").await.next, ["after".into()]);
    graph.thread("t").proceed().await.unwrap();
    assert_eq!(log_of(&graph, "t").await, ["in", "update", "after@2"]);
}

#[tokio::test]
async fn j6_a_run_that_has_not_seen_the_head_is_refused() {
    let (arrived, waiting) = (
        Arc::new(tokio::sync::Notify::new()),
        Arc::new(tokio::sync::Notify::new()),
    );
    let mut graph = StateGraph::<i64>::new();
    let (a, w) = (Arc::clone(&arrived), Arc::clone(&waiting));
    graph.add_node("wait", move |n: i64| {
        let (a, w) = (Arc::clone(&a), Arc::clone(&w));
        async move {
            if n == 1 {
                a.notify_one();
                w.notified().await;
            }
            n + 1
        }
    });
    graph.add_sequence(&["wait"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let slow = tokio::spawn({
        let graph = graph.clone();
        async move { graph.run(1).thread("t").await }
    });
    arrived.notified().await;
    let takes_over = graph.run(5).thread("t").on_conflict(OnConflict::Cancel);
    takes_over.await.unwrap();
    waiting.notify_one();
    let error = slow.await.unwrap().unwrap_err();
    assert!(
        matches!(
            error,
            AgentError::Checkpoint(CheckpointError::Conflict { .. })
        ),
        "{error}"
    );
    assert_eq!(graph.thread("t").state().await.unwrap().unwrap().values, 6);
}
