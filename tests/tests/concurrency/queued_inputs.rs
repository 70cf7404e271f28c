//! Calls that wait behind the active run of their thread.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability, RunStatus};
use langgraph::error::ErrorKind;
use langgraph::prelude::*;
use langgraph::run::{EventStream, Outcome, Run};
use langgraph::thread::OnConflict;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use langgraph_tests::fixtures::diary::{
    Diary, DiaryUpdate, World, ask, graph_in, log_of, memory, note, over, world, wrote,
};

/// Lets a test hold the node `held`.
#[derive(Default)]
pub(crate) struct Gate {
    pub(crate) reached: Notify,
    pub(crate) open: Notify,
}

/// Waits until a run is accepted: one that waits for another run is, too.
async fn accepted(run: Run<Diary>) -> EventStream<Diary> {
    let accepted = run.stream(StreamMode::Values).accepted();
    let accepted = tokio::time::timeout(Duration::from_secs(10), accepted).await;
    accepted
        .expect("it is accepted before the other run has ended")
        .unwrap()
}

async fn held(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let gate = cx.resource::<Gate>()?;
    gate.reached.notify_one();
    gate.open.notified().await;
    world(cx).works()?;
    Ok(wrote("held"))
}

/// A graph `held => after`, whose first node waits for the test.
struct Setup {
    graph: CompiledStateGraph<Diary>,
    gate: Arc<Gate>,
    world: Arc<World>,
}

impl Setup {
    fn new(policy: OnConflict) -> Self {
        Self::on(&memory(), policy)
    }

    fn on(saver: &Arc<dyn Checkpointer>, policy: OnConflict) -> Self {
        let (world, gate) = (World::new(), Arc::new(Gate::default()));
        let mut graph = graph_in(&world);
        graph.resource(Arc::clone(&gate));
        graph.add_node("held", held).add_node("after", note);
        graph.add_sequence(&["held", "after"]);
        let graph = over(&graph, saver).on_conflict(policy);
        Self { graph, gate, world }
    }

    fn run(&self, input: &str) -> Run<Diary> {
        self.graph.run(wrote(input)).thread("t")
    }

    /// Starts a run, and waits until its first node is at work.
    async fn first(&self) -> JoinHandle<Result<Outcome<Diary>, AgentError>> {
        let run = tokio::spawn(self.run("first").into_future());
        self.gate.reached.notified().await;
        run
    }

    /// Starts a run whose input waits for the one at work.
    async fn later(&self, input: &str) -> JoinHandle<Result<Outcome<Diary>, AgentError>> {
        let mut events = accepted(self.run(input)).await;
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                event?;
            }
            events.finish().await
        })
    }

    fn open(&self) {
        self.gate.open.notify_one();
    }
}

async fn log(run: JoinHandle<Result<Outcome<Diary>, AgentError>>) -> Vec<String> {
    run.await.unwrap().unwrap().finished().unwrap().log
}

#[tokio::test]
async fn each_enqueued_call_returns_its_own_outcome_when_its_run_has_ended() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let setup = Setup::new(OnConflict::Enqueue);
        let first = tokio::spawn(setup.run("first").durability(durability).into_future());
        setup.gate.reached.notified().await;
        let second = setup.later("second").await;
        let third = setup.later("third").await;
        let lines = [
            "first", "held", "after@2", "second", "held", "after@5", "third", "held", "after@8",
        ];
        for (place, run) in [first, second].into_iter().enumerate() {
            setup.open();
            // The next one has begun, and has not ended.
            setup.gate.reached.notified().await;
            assert_eq!(log(run).await, lines[..3 * (place + 1)], "{durability:?}");
        }
        assert!(!third.is_finished());
        setup.open();
        assert_eq!(log(third).await, lines);
        assert_eq!(log_of(&setup.graph, "t").await, lines);
    }
}

#[tokio::test]
async fn each_enqueued_call_has_its_own_events_and_options() {
    let setup = Setup::new(OnConflict::Enqueue);
    let first = setup.first().await;
    let mut events = accepted(setup.run("second").interrupt_before(["after"])).await;
    let second = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            seen.extend(event.unwrap().values().map(|diary| diary.log.len()));
        }
        (seen, events.finish().await.unwrap())
    });
    setup.open();
    assert_eq!(log(first).await, ["first", "held", "after@2"]);
    setup.open();
    let (seen, outcome) = second.await.unwrap();
    assert_eq!(seen, [4, 5]);
    assert!(!outcome.is_done(), "its breakpoint");
}

#[tokio::test]
async fn enqueued_calls_keep_their_order_behind_failures_and_dropped_calls() {
    let setup = Setup::new(OnConflict::Enqueue);
    let first = setup.first().await;
    let mut later = Vec::new();
    for input in ["a", "b", "c", "d", "e", "f"] {
        later.push(setup.later(input).await);
    }
    // One that waits is dropped; the first one fails, and so does the one behind it.
    later.remove(2).abort();
    setup.world.set_broken(true);
    for _ in 0..2 {
        setup.open();
        setup.gate.reached.notified().await;
    }
    setup.world.set_broken(false);
    assert!(first.await.unwrap().is_err());
    let failed = later.remove(0).await.unwrap().unwrap_err();
    assert_eq!(
        failed.to_string(),
        "node `held` failed: the world is broken"
    );
    let mut ended = Vec::new();
    for run in later {
        setup.open();
        ended = log(run).await;
    }
    let inputs = ended.iter().filter(|line| line.len() == 1);
    assert_eq!(inputs.collect::<Vec<_>>(), ["a", "b", "d", "e", "f"]);
}

#[tokio::test]
async fn an_enqueued_answer_waits_for_its_place() {
    let (world, gate) = (World::new(), Arc::new(Gate::default()));
    let mut graph = graph_in(&world);
    graph.resource(Arc::clone(&gate));
    graph.add_node("held", held).add_node("ask", ask);
    graph.add_sequence(&["held", "ask"]);
    let graph = over(&graph, &memory()).on_conflict(OnConflict::Enqueue);
    let setup = Setup { graph, gate, world };
    let first = setup.first().await;
    let answer = setup.graph.thread("t").answer("yes");
    let answer = tokio::spawn(answer.into_future());
    tokio::task::yield_now().await;
    setup.open();
    assert!(!first.await.unwrap().unwrap().is_done());
    assert!(answer.await.unwrap().unwrap().is_done());
}

#[tokio::test]
async fn a_call_that_is_dropped_with_the_thread_gives_it_back() {
    let setup = Setup::new(OnConflict::Enqueue);
    let first = setup.first().await;
    // Its future gets the thread, and is not polled any more.
    let second = accepted(setup.run("second")).await;
    let third = setup.later("third").await;
    setup.open();
    assert_eq!(log(first).await, ["first", "held", "after@2"]);
    assert!(second.outcome().is_none());
    drop(second);
    setup.open();
    let lines = ["first", "held", "after@2", "third", "held", "after@5"];
    assert_eq!(log(third).await, lines);
}

#[tokio::test]
async fn a_joining_input_is_merged_between_two_supersteps() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let setup = Setup::new(OnConflict::Join);
        let mut events = setup
            .run("first")
            .durability(durability)
            .stream(StreamMode::Values);
        let values = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(event) = events.next().await {
                seen.extend(event.unwrap().values().map(|diary| diary.log.len()));
            }
            seen
        });
        setup.gate.reached.notified().await;
        let second = setup.later("second").await;
        setup.open();
        let merged = ["first", "held", "second", "after@3"];
        assert_eq!(log(second).await, merged, "{durability:?}");
        // The stream of the run shows the input that came in.
        assert_eq!(values.await.unwrap(), [1, 2, 3, 4]);
        assert_eq!(log_of(&setup.graph, "t").await, merged);
    }
}

#[tokio::test]
async fn an_input_with_a_goto_runs_on_its_own() {
    let setup = Setup::new(OnConflict::Join);
    let first = setup.first().await;
    let goto = Command::update(wrote("second")).and_goto("after");
    let second = setup.graph.run(goto).thread("t");
    let second = tokio::spawn(second.into_future());
    tokio::time::sleep(Duration::from_millis(20)).await;
    setup.open();
    // An input with a `goto` cannot be merged in the middle of a run.
    let lines = ["first", "held", "after@2", "second", "after@4"];
    assert_eq!(log(second).await, lines);
    assert_eq!(log(first).await, lines[..3]);
}

#[tokio::test]
async fn an_input_that_is_not_taken_runs_on_its_own() {
    let setup = Setup::new(OnConflict::Enqueue);
    let first = setup.first().await;
    let second = setup.later("second").await;
    setup.world.set_broken(true);
    setup.open();
    let error = first.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Node);
    setup.gate.reached.notified().await;
    setup.world.set_broken(false);
    setup.open();
    assert_eq!(log(second).await, ["first", "second", "held", "after@3"]);

    // The same if the active run is dropped.
    let setup = Setup::new(OnConflict::Join);
    let first = setup.first().await;
    let second = setup.later("second").await;
    first.abort();
    setup.gate.reached.notified().await;
    setup.open();
    assert_eq!(log(second).await, ["first", "second", "held", "after@3"]);
}

#[tokio::test]
async fn a_run_that_is_recovered_reports_its_end_to_the_inputs_that_it_merged() {
    let setup = Setup::new(OnConflict::Join);
    setup.first().await.abort();
    // The run that was dropped returns its lease.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let graph = setup.graph.clone();
    let recovered = tokio::spawn(async move {
        let threads = graph.threads();
        let cut_off = threads.resume_pending(Duration::ZERO);
        cut_off.including(RunStatus::Cancelled).await
    });
    setup.gate.reached.notified().await;
    let second = setup.later("second").await;
    setup.open();
    let merged = ["first", "held", "second", "after@3"];
    assert_eq!(log(second).await, merged);
    assert_eq!(recovered.await.unwrap().unwrap().len(), 1);
    assert_eq!(log_of(&setup.graph, "t").await, merged);
}

#[tokio::test]
async fn an_input_behind_a_question_follows_its_policy() {
    let (world, gate) = (World::new(), Arc::new(Gate::default()));
    let mut graph = graph_in(&world);
    graph.resource(Arc::clone(&gate));
    graph.add_node("held", held).add_node("ask", ask);
    graph.add_sequence(&["held", "ask"]);
    let graph = over(&graph, &memory()).on_conflict(OnConflict::Enqueue);
    let setup = Setup { graph, gate, world };
    let first = setup.first().await;
    let second = setup.later("second").await;
    setup.open();
    assert!(!first.await.unwrap().unwrap().is_done());
    let error = second.await.unwrap().unwrap_err();
    assert!(
        matches!(error, AgentError::InterruptsOpen { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn the_input_of_a_dropped_call_is_not_taken() {
    let setup = Setup::new(OnConflict::Join);
    let first = setup.first().await;
    setup.later("second").await.abort();
    tokio::task::yield_now().await;
    setup.open();
    assert_eq!(log(first).await, ["first", "held", "after@2"]);
}

#[tokio::test]
async fn a_call_learns_that_the_run_that_merged_its_input_failed() {
    let (world, gate) = (World::new(), Arc::new(Gate::default()));
    let mut graph = graph_in(&world);
    graph.resource(Arc::clone(&gate));
    graph.add_node("open", held).add_node("held", held);
    graph.add_sequence(&["open", "held"]);
    let graph = over(&graph, &memory()).on_conflict(OnConflict::Join);
    let setup = Setup { graph, gate, world };
    let first = setup.first().await;
    let second = setup.later("second").await;
    setup.open();
    setup.gate.reached.notified().await;
    setup.world.set_broken(true);
    setup.open();
    let error = second.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Node);
    assert_eq!(
        error.to_string(),
        "the run that merged this input on thread `t` failed: node `held` failed: the world is broken"
    );
    assert!(first.await.unwrap().is_err());
    // Nothing is lost: the thread goes on with the input.
    setup.world.set_broken(false);
    let again = tokio::spawn(setup.graph.thread("t").proceed().into_future());
    setup.open();
    assert_eq!(log(again).await, ["first", "held", "second", "held"]);
}

#[tokio::test]
async fn a_call_waits_for_a_run_of_another_process() {
    let saver = memory();
    let setup = Setup::on(&saver, OnConflict::Join);
    let leases = saver.leases().unwrap();
    let term = Duration::from_secs(30);
    assert!(
        leases
            .lease("t", "elsewhere", term)
            .await
            .unwrap()
            .is_none()
    );
    let run = tokio::spawn(setup.run("first").into_future());
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!run.is_finished());
    leases.release("t", "elsewhere").await.unwrap();
    setup.open();
    assert_eq!(log(run).await, ["first", "held", "after@2"]);
}
