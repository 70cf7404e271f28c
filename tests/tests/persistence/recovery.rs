//! Runs that were cut off at any point: exactly these are resumed, once.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Waker};
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability, RunStatus, ThreadFilter};
use langgraph::error::CheckpointError;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::{CancelToken, Resumed, Run};
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};

use langgraph_tests::fixtures::diary::{
    Diary, DiaryUpdate, World, ask, fragile, graph_in, in_memory, log_of, memory, note, over,
    shown, state, unique, work_once, world, wrote,
};
use langgraph_tests::fixtures::faulty_saver::faulty;
use tokio::sync::Notify;

/// Sequential, parallel, sent, and inside a subgraph.
fn build(world: &Arc<World>) -> StateGraph<Diary> {
    let mut inner = StateGraph::<Diary>::new();
    inner.add_node("x", note).add_node("y", once);
    inner.add_sequence(&["x", "y"]);
    let mut graph = graph_in(world);
    let worker = graph.add_worker("worker", async |item: i64, diary: &Diary, cx: &Context| {
        tokio::task::yield_now().await;
        let line = unique(&format!("{item}"), diary);
        effect(cx, &line);
        wrote(line)
    });
    let sent = worker.clone();
    graph
        .add_node("a", note)
        .add_node("b", once)
        .add_node("inner", inner.compile().unwrap());
    graph.add_node("sends", move |_: &Diary| {
        Command::goto([Send::to(&sent, 1), Send::to(&sent, 2)])
    });
    graph.add_node("end", note);
    graph
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("a", "inner");
    graph
        .add_edge(["b", "inner"], "sends")
        .add_edge("worker", "end");
    graph
}

fn effect(cx: &Context, line: &str) {
    world(cx).effect(line);
}

async fn once(diary: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    work_once(cx, &unique(&format!("work of {}", cx.node()), diary)).await?;
    tokio::task::yield_now().await;
    Ok(note(diary, cx).await)
}

/// Lets a future go as far as `polls` polls, and drops it. True when it had ended.
async fn cut_after(polls: usize, run: impl Future) -> bool {
    let mut run = pin!(run);
    for _ in 0..polls {
        let poll = run
            .as_mut()
            .poll(&mut TaskContext::from_waker(Waker::noop()));
        if poll.is_ready() {
            return true;
        }
        // Tasks beside it go on.
        tokio::task::yield_now().await;
    }
    false
}

/// Waits for what a run has left in the background.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

async fn running(graph: &CompiledStateGraph<Diary>) -> usize {
    let filter = ThreadFilter::new().status(RunStatus::Running);
    graph.threads().list(filter).await.unwrap().len()
}

#[tokio::test]
async fn a_run_that_is_dropped_at_any_moment_is_found_and_comes_to_the_same_end() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let graph = in_memory(&build(&World::new()));
        graph
            .run(wrote("in"))
            .thread("t")
            .durability(durability)
            .await
            .unwrap();
        let expected = (log_of(&graph, "t").await, shown(&graph, "t").await);
        let (mut polls, mut found) = (0, 0);
        loop {
            let world = World::new();
            let saver = memory();
            let slow: Arc<dyn Checkpointer> = faulty(&saver, None);
            let run = over(&build(&world), &slow).run(wrote("in")).thread("t");
            let ended = cut_after(polls, run.durability(durability).into_future()).await;
            settle().await;
            // Another process.
            let graph = over(&build(&world), &saver);
            let place = format!("{durability:?} after {polls} polls");
            let stored = graph.thread("t").state().await.unwrap();
            tokio::time::sleep(Duration::from_micros(10)).await;
            let resumed = graph
                .threads()
                .resume_pending(Duration::ZERO)
                .including(RunStatus::Cancelled)
                .await
                .unwrap();
            if let Some(stored) = stored {
                if !ended && !stored.next.is_empty() {
                    assert_eq!(resumed.len(), 1, "{place}");
                }
                found += resumed.len();
                for resumed in resumed {
                    assert_eq!(resumed.thread, "t");
                    resumed.outcome.unwrap();
                }
                let end = (log_of(&graph, "t").await, shown(&graph, "t").await);
                assert_eq!(end, expected, "{place}");
                assert_eq!(running(&graph).await, 0, "{place}");
                // What it had stored did not happen again.
                for line in stored.values.log.iter().skip(1) {
                    assert_eq!(world.times(line), 1, "{line} {place}");
                }
                // Now there is nothing to do.
                assert!(
                    graph
                        .threads()
                        .resume_pending(Duration::ZERO)
                        .await
                        .unwrap()
                        .is_empty()
                );
            } else {
                assert!(resumed.is_empty() && !ended, "{place}");
            }
            if ended {
                break;
            }
            polls += 1;
        }
        assert!(polls > 15, "only {polls} moments");
        if durability == Durability::Sync {
            assert!(found > 15, "only {found} of {polls} were cut off");
        }
    }
}

#[tokio::test]
async fn threads_that_wait_are_left_alone() {
    let world = World::new();
    let mut graph = graph_in(&world);
    graph
        .add_node("ask", ask)
        .add_node("fragile", fragile)
        .add_node("note", note);
    graph.add_router(START, |diary: &Diary| diary.log[0].clone());
    let graph = in_memory(&graph).lease_term(SHORT_TERM);
    world.set_broken(true);
    for node in ["ask", "fragile", "note"] {
        let run = graph
            .run(wrote(node))
            .thread(node)
            .interrupt_before(["note"]);
        let _ = run.await;
    }
    for thread in ["updated", "copied", "added", "cleared"] {
        let run = graph
            .run(wrote("note"))
            .thread(thread)
            .interrupt_before(["note"]);
        run.await.unwrap();
    }
    graph
        .thread("updated")
        .update(wrote("note"))
        .as_node(START)
        .await
        .unwrap();
    graph.thread("copied").fork().await.unwrap();
    graph
        .thread("added")
        .add_input(wrote("note"))
        .await
        .unwrap();
    graph.thread("cleared").clear_pending().await.unwrap();
    let fresh = graph.thread("fresh").update(wrote("note")).as_node(START);
    fresh.create().await.unwrap();

    let threads = graph.threads().list(ThreadFilter::new()).await.unwrap();
    assert_eq!(threads.len(), 8);
    let mut before = Vec::new();
    for info in &threads {
        before.push(shown(&graph, &info.thread).await);
    }
    world.set_broken(false);
    assert_eq!(running(&graph).await, 0);
    assert!(
        graph
            .threads()
            .resume_pending(Duration::ZERO)
            .await
            .unwrap()
            .is_empty()
    );
    for (info, before) in threads.iter().zip(before) {
        assert_eq!(shown(&graph, &info.thread).await, before, "{}", info.thread);
    }
    assert_eq!(state(&graph, "ask").await.interrupts.len(), 1);
    assert!(world.effects().is_empty());
}

/// Hangs as long as the world is broken.
async fn hang(_: &Diary, cx: &Context) -> DiaryUpdate {
    if world(cx).works().is_err() {
        std::future::pending::<()>().await;
    }
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    world(cx).effect(cx.thread_id().unwrap());
    wrote("hang")
}

/// The lease of a run that vanished is over soon.
const SHORT_TERM: Duration = Duration::from_millis(20);

/// Lets a run begin, and forgets it, as if its process had died.
async fn vanish(run: Run<Diary>) {
    let mut run = Box::pin(run.into_future());
    let begun = tokio::time::timeout(Duration::from_millis(10), &mut run);
    begun.await.unwrap_err();
    std::mem::forget(run);
}

async fn three_cut_off() -> (Arc<World>, CompiledStateGraph<Diary>) {
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("hang", hang).add_node("end", note);
    graph.add_sequence(&["hang", "end"]);
    let slow: Arc<dyn Checkpointer> = faulty(&memory(), None);
    let graph = over(&graph, &slow).lease_term(SHORT_TERM);
    world.set_broken(true);
    for thread in ["a", "b", "c"] {
        vanish(graph.run(()).thread(thread)).await;
    }
    world.set_broken(false);
    tokio::time::sleep(SHORT_TERM * 2).await;
    (world, graph)
}

#[tokio::test]
async fn of_two_that_look_for_threads_one_takes_each() {
    let (world, graph) = three_cut_off().await;
    assert_eq!(running(&graph).await, 3);
    let threads = graph.threads();
    let (one, two) = tokio::join!(
        threads.resume_pending(Duration::ZERO),
        threads.resume_pending(Duration::ZERO)
    );
    // One that the other has just taken is reported as held.
    let taken = |found: Vec<Resumed<Diary>>| -> Vec<Resumed<Diary>> {
        found
            .into_iter()
            .filter(|one| !is_held(&one.outcome))
            .collect()
    };
    let (one, two) = (taken(one.unwrap()), taken(two.unwrap()));
    let mut threads: Vec<_> = one
        .iter()
        .chain(&two)
        .map(|resumed| &*resumed.thread)
        .collect();
    threads.sort_unstable();
    assert_eq!(threads, ["a", "b", "c"]);
    for resumed in one.into_iter().chain(two) {
        assert!(resumed.outcome.unwrap().is_done());
    }
    for thread in threads_of(&graph).await {
        assert_eq!(world.times(&thread), 1);
    }
    assert_eq!(running(&graph).await, 0);
}

fn is_held<T>(outcome: &Result<T, AgentError>) -> bool {
    matches!(
        outcome,
        Err(AgentError::Checkpoint(CheckpointError::Held { .. }))
    )
}

async fn threads_of(graph: &CompiledStateGraph<Diary>) -> Vec<String> {
    let threads = graph.threads().list(ThreadFilter::new()).await.unwrap();
    threads.into_iter().map(|info| info.thread).collect()
}

#[tokio::test]
async fn only_a_run_that_vanished_is_resumed_unless_asked() {
    let (world, graph) = three_cut_off().await;
    world.set_broken(true);
    let timed_out = graph.run(()).thread("timed out");
    timed_out
        .timeout(Duration::from_millis(10))
        .await
        .unwrap_err();
    let token = CancelToken::new();
    let cancelled = graph.run(()).thread("cancelled").cancel(token.clone());
    let cancelled = tokio::spawn(cancelled.into_future());
    let dropped = tokio::spawn(graph.run(()).thread("dropped").into_future());
    tokio::time::sleep(Duration::from_millis(20)).await;
    token.cancel();
    cancelled.await.unwrap().unwrap_err();
    dropped.abort();
    dropped.await.unwrap_err();
    world.set_broken(false);
    tokio::time::sleep(SHORT_TERM * 2).await;
    let status = |name: &'static str| {
        let graph = graph.clone();
        async move {
            let threads = graph.threads().list(ThreadFilter::new()).await.unwrap();
            threads
                .into_iter()
                .find(|info| info.thread == name)
                .unwrap()
                .status
        }
    };
    assert_eq!(status("timed out").await, RunStatus::TimedOut);
    assert_eq!(status("cancelled").await, RunStatus::Cancelled);
    assert_eq!(status("dropped").await, RunStatus::Cancelled);
    assert_eq!(status("a").await, RunStatus::Running);

    let names = |found: &[Resumed<Diary>]| -> Vec<String> {
        found.iter().map(|one| one.thread.clone()).collect()
    };
    let threads = graph.threads();
    let recovery = threads.resume_pending(Duration::ZERO).concurrency(3);
    let resumed = recovery.await.unwrap();
    assert_eq!(names(&resumed), ["a", "b", "c"]);
    assert!(
        resumed
            .iter()
            .all(|one| one.outcome.is_ok() && one.status == RunStatus::Running)
    );

    let recovery = threads.resume_pending(Duration::ZERO);
    let recovery = recovery
        .including(RunStatus::TimedOut)
        .including(RunStatus::Cancelled);
    // The options of a run hold for each of them: here none may take a superstep more.
    let resumed = recovery.options(|_, run| run.limit(1)).await.unwrap();
    assert_eq!(names(&resumed), ["cancelled", "dropped", "timed out"]);
    for one in resumed {
        assert!(matches!(
            one.outcome,
            Err(AgentError::StepLimit { limit: 1, .. })
        ));
    }
}

#[tokio::test]
async fn a_thread_that_a_dead_process_holds_is_reported_or_waited_for() {
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("hang", hang).add_sequence(&["hang"]);
    let graph = in_memory(&graph).lease_term(Duration::from_millis(200));
    world.set_broken(true);
    vanish(graph.run(()).thread("t")).await;
    world.set_broken(false);
    let threads = graph.threads();
    let found = threads.resume_pending(Duration::ZERO).await.unwrap();
    assert!(is_held(&found[0].outcome), "{found:?}");
    let recovery = threads.resume_pending(Duration::ZERO);
    let found = recovery.wait(Duration::from_secs(30)).await.unwrap();
    assert!(found[0].outcome.is_ok(), "{found:?}");
}

#[tokio::test]
async fn a_run_right_after_a_dropped_one_meets_no_conflict() {
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("hang", hang).add_sequence(&["hang"]);
    let graph = in_memory(&graph);
    for round in 0..20 {
        world.set_broken(true);
        let run = graph.run(()).thread("t");
        run.timeout(Duration::from_millis(1)).await.unwrap_err();
        world.set_broken(false);
        let outcome = graph.run(()).thread("t").await;
        assert!(outcome.unwrap().is_done(), "{round}");
    }
}

#[tokio::test]
async fn a_run_that_stored_something_lately_counts_as_alive() {
    let (world, graph) = three_cut_off().await;
    let hour = Duration::from_secs(3600);
    assert!(
        graph
            .threads()
            .resume_pending(hour)
            .await
            .unwrap()
            .is_empty()
    );
    assert!(world.effects().is_empty());
    assert_eq!(running(&graph).await, 3);
}

#[tokio::test]
async fn one_thread_that_fails_does_not_keep_the_others() {
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("hang", hang).add_node("fails", fails_on_b);
    graph.add_sequence(&["hang", "fails"]);
    let graph = in_memory(&graph).lease_term(SHORT_TERM);
    world.set_broken(true);
    for thread in ["a", "b", "c"] {
        vanish(graph.run(()).thread(thread)).await;
    }
    world.set_broken(false);
    tokio::time::sleep(SHORT_TERM * 2).await;
    let resumed = graph
        .threads()
        .resume_pending(Duration::ZERO)
        .await
        .unwrap();
    let ends = resumed
        .iter()
        .map(|resumed| (&*resumed.thread, resumed.outcome.is_ok()));
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [("a", true), ("b", false), ("c", true)]
    );
    // It has failed, and is not tried again unless the caller requests it.
    assert!(
        graph
            .threads()
            .resume_pending(Duration::ZERO)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(log_of(&graph, "b").await, ["hang"]);
}

fn fails_on_b(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    match cx.thread_id() {
        Some("b") => Err(NodeError::msg("not this one")),
        _ => Ok(wrote("works")),
    }
}

/// Hangs at a write and all that come after it, as if the process had died there.
struct DiesAt {
    /// How many writes come before it.
    writes: AtomicUsize,
    died: Notify,
}

impl Intercept for DiesAt {
    async fn around<T: std::marker::Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + std::marker::Send,
    ) -> Result<T, CheckpointError> {
        let lives = |left: usize| left.checked_sub(1);
        let relaxed = Ordering::SeqCst;
        if matches!(call, SaverCall::Put(..))
            && self.writes.fetch_update(relaxed, relaxed, lives).is_err()
        {
            self.died.notify_one();
            std::future::pending::<()>().await;
        }
        run.await
    }
}

/// Runs until so many writes are done, and dies at the next. Returns false if the run ended before.
async fn dies_after(
    writes: usize,
    memory: &Arc<dyn Checkpointer>,
    begin: impl FnOnce(&Arc<dyn Checkpointer>) -> Run<Diary>,
) -> bool {
    let dies = DiesAt {
        writes: AtomicUsize::new(writes),
        died: Notify::new(),
    };
    let intercepted = Arc::new(InterceptedSaver::new(Arc::clone(memory), dies));
    let saver: Arc<dyn Checkpointer> = intercepted.clone();
    let mut run = Box::pin(begin(&saver).into_future());
    tokio::select! {
        _ = &mut run => return false,
        () = intercepted.intercept().died.notified() => {}
    }
    std::mem::forget(run);
    // The lease of a dead process is over after its term.
    tokio::time::sleep(SHORT_TERM * 2).await;
    true
}

#[tokio::test]
async fn recovery_passes_no_breakpoint_wherever_the_run_was_killed() {
    let graph = in_a_row();
    for after in [false, true] {
        let stops = |graph: CompiledStateGraph<Diary>| {
            if after {
                graph.interrupt_after(["b"])
            } else {
                graph.interrupt_before(["c"])
            }
        };
        let mut killed = 0;
        for writes in 0.. {
            let memory = memory();
            let begins = |saver: &_| stops(dying(&graph, saver)).run(()).thread("t");
            if !dies_after(writes, &memory, begins).await {
                break;
            }
            killed += 1;
            let graph = stops(over(&graph, &memory));
            let threads = graph.threads();
            threads.resume_pending(Duration::ZERO).await.unwrap();
            if threads_of(&graph).await.is_empty() {
                continue;
            }
            assert_eq!(
                log_of(&graph, "t").await,
                ["a@0", "b@1"],
                "{writes} {after}"
            );
            assert_eq!(running(&graph).await, 0);
            let done = graph.thread("t").proceed().await.unwrap();
            assert_eq!(done.finished().unwrap().log, ["a@0", "b@1", "c@2"]);
        }
        assert!(killed > 2, "{killed}");
    }
}

#[tokio::test]
async fn a_run_that_is_recovered_pauses_again_where_it_had_paused() {
    for (graph, after) in [
        (paused_inside(false), None),
        (paused_inside(true), None),
        (in_a_row(), Some(false)),
        (in_a_row(), Some(true)),
    ] {
        let stops = |graph: CompiledStateGraph<Diary>| match after {
            None => graph,
            Some(true) => graph.interrupt_after(["b"]),
            Some(false) => graph.interrupt_before(["c"]),
        };
        let memory = memory();
        let compiled = stops(over(&graph, &memory));
        let thread = compiled.thread("t");
        let paused = thread.run(()).await.unwrap();
        assert!(!paused.is_done());
        let before = thread.state().await.unwrap().unwrap();
        for _ in 0..2 {
            let recovered = thread.recover().await.unwrap();
            assert!(!recovered.is_done(), "{after:?}: {recovered:?}");
            let state = thread.state().await.unwrap().unwrap();
            assert_eq!((state.id, &state.next), (before.id, &before.next));
            assert_eq!(running(&compiled).await, 0);
        }
        // Killed after it has passed the breakpoint, it does not pause there again. A graph that is a node stores that
        // after the graph around.
        let writes = if after.is_some() { 1 } else { 2 };
        let goes_on = |saver: &_| stops(dying(&graph, saver)).thread("t").proceed();
        assert!(dies_after(writes, &memory, goes_on).await);
        let done = thread.recover().await.unwrap().finished().unwrap();
        assert_eq!(done.log, ["a@0", "b@1", "c@2"], "{after:?}");
    }
}

#[tokio::test]
async fn recovery_passes_no_breakpoint_after_the_last_node_of_a_graph_inside() {
    let mut inner = in_a_row();
    inner.interrupt_after(["c"]);
    let mut graph = graph_in(&World::new());
    graph.add_node("inner", inner.compile().unwrap());
    graph.add_node("d", note).add_sequence(&["inner", "d"]);
    let mut resumed = 0;
    for writes in 0.. {
        let memory = memory();
        let begins = |saver: &_| dying(&graph, saver).run(()).thread("t");
        if !dies_after(writes, &memory, begins).await {
            break;
        }
        let graph = over(&graph, &memory);
        let pending = graph.threads().resume_pending(Duration::ZERO).await;
        for end in pending.unwrap() {
            let outcome = end.outcome.unwrap();
            assert!(!outcome.is_done(), "{writes}: {outcome:?}");
            resumed += 1;
        }
        if threads_of(&graph).await.is_empty() {
            continue;
        }
        let thread = graph.thread("t");
        let done = thread.proceed().await.unwrap().finished().unwrap();
        assert_eq!(done.log, ["a@0", "b@1", "c@2", "d@3"], "{writes}");
    }
    assert!(resumed > 2, "{resumed}");
}

#[tokio::test]
async fn a_thread_that_has_passed_a_breakpoint_after_its_last_node_is_readable() {
    let graph = in_memory(&in_a_row()).interrupt_after(["c"]);
    let thread = graph.thread("t");
    assert!(!thread.run(()).await.unwrap().is_done());
    assert!(thread.proceed().await.unwrap().is_done());
    assert!(thread.recover().await.unwrap().is_done());
    let state = thread.state().await.unwrap().unwrap();
    assert_eq!(state.values.log, ["a@0", "b@1", "c@2"]);
}

/// Three nodes, one after the other.
fn in_a_row() -> StateGraph<Diary> {
    let mut graph = graph_in(&World::new());
    for node in ["a", "b", "c"] {
        graph.add_node(node, note);
    }
    graph.add_sequence(&["a", "b", "c"]);
    graph
}

/// The graph over a saver, with leases that end soon.
fn dying(graph: &StateGraph<Diary>, saver: &Arc<dyn Checkpointer>) -> CompiledStateGraph<Diary> {
    over(graph, saver).lease_term(SHORT_TERM)
}

/// A graph whose node is a graph of `a`, `b` and `c` with a breakpoint between the last two.
fn paused_inside(after: bool) -> StateGraph<Diary> {
    let mut inner = in_a_row();
    if after {
        inner.interrupt_after(["b"]);
    } else {
        inner.interrupt_before(["c"]);
    }
    let mut graph = graph_in(&World::new());
    graph.add_node("inner", inner.compile().unwrap());
    graph.add_sequence(&["inner"]);
    graph
}

#[tokio::test]
async fn recovery_passes_no_breakpoint_of_a_graph_inside_wherever_the_run_was_killed() {
    for after in [false, true] {
        let graph = paused_inside(after);
        let mut resumed = 0;
        for writes in 0.. {
            let memory = memory();
            let begins = |saver: &_| dying(&graph, saver).run(()).thread("t");
            if !dies_after(writes, &memory, begins).await {
                break;
            }
            let graph = over(&graph, &memory);
            let ends = graph
                .threads()
                .resume_pending(Duration::ZERO)
                .await
                .unwrap();
            for end in &ends {
                let outcome = end.outcome.as_ref().unwrap();
                assert!(!outcome.is_done(), "{writes} {after}: {outcome:?}");
                resumed += 1;
            }
            if threads_of(&graph).await.is_empty() {
                continue;
            }
            // The thread waits for a caller.
            assert_eq!(running(&graph).await, 0, "{writes} {after}");
            let done = graph.thread("t").proceed().await.unwrap();
            assert_eq!(done.finished().unwrap().log, ["a@0", "b@1", "c@2"]);
        }
        assert!(resumed > 2, "{resumed}");
    }
}

#[tokio::test]
async fn a_run_that_vanishes_behind_a_breakpoint_of_a_graph_inside_is_resumed() {
    for after in [false, true] {
        let graph = paused_inside(after);
        let mut done = 0;
        for writes in 1.. {
            let memory = memory();
            let paused = over(&graph, &memory).run(()).thread("t").await.unwrap();
            assert!(!paused.is_done());
            let goes_on = |saver: &_| dying(&graph, saver).thread("t").proceed();
            if !dies_after(writes, &memory, goes_on).await {
                break;
            }
            let graph = over(&graph, &memory);
            let ends = graph
                .threads()
                .resume_pending(Duration::ZERO)
                .await
                .unwrap();
            // Killed before it had begun behind the breakpoint, it waits there again.
            done += ends
                .iter()
                .filter(|end| end.outcome.as_ref().unwrap().is_done())
                .count();
            let thread = graph.thread("t");
            if !thread.state().await.unwrap().unwrap().next.is_empty() {
                assert_eq!(writes, 1, "{after}");
                thread.proceed().await.unwrap();
            }
            assert_eq!(log_of(&graph, "t").await, ["a@0", "b@1", "c@2"]);
        }
        assert!(done > 1, "{done}");
    }
}

#[tokio::test]
async fn a_run_that_vanishes_behind_its_breakpoint_is_resumed() {
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("hang", hang).add_sequence(&["hang"]);
    let graph = in_memory(&graph)
        .interrupt_before(["hang"])
        .lease_term(SHORT_TERM);
    assert!(!graph.run(()).thread("t").await.unwrap().is_done());
    world.set_broken(true);
    vanish(graph.thread("t").proceed()).await;
    assert_eq!(running(&graph).await, 1);
    world.set_broken(false);
    tokio::time::sleep(SHORT_TERM * 2).await;
    let resumed = graph
        .threads()
        .resume_pending(Duration::ZERO)
        .await
        .unwrap();
    assert!(
        resumed[0].outcome.as_ref().unwrap().is_done(),
        "{resumed:?}"
    );
}

#[tokio::test]
async fn an_answer_to_a_run_that_was_cut_off_says_how_to_go_on() {
    let graph = in_memory(&{
        let mut graph = graph_in(&World::new());
        graph.add_node("ask", ask).add_sequence(&["ask"]);
        graph
    });
    graph
        .thread("t")
        .add_input(DiaryUpdate::default())
        .create()
        .await
        .unwrap();
    let thread = graph.thread("t");
    for run in [thread.answer("Ada"), thread.resume("name", "Ada")] {
        let error = run.await.unwrap_err().to_string();
        assert!(
            error.contains("its run was cut off at `__start__`") && error.contains("`proceed()`"),
            "{error}"
        );
    }
    assert_eq!(thread.proceed().await.unwrap().interrupts().len(), 1);
    assert!(thread.answer("Ada").await.unwrap().is_done());
    // Nothing is left to do: nothing is to be continued.
    let error = thread.answer("Ada").await.unwrap_err().to_string();
    assert!(error.contains("(open: nothing)"), "{error}");
}
