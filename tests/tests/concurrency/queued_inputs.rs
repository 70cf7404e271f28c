//! Inputs that later calls hand to the run at work on their thread.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability};
use langgraph::error::ErrorKind;
use langgraph::prelude::*;
use langgraph::run::{Outcome, Run};
use langgraph::thread::OnConflict;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use langgraph_tests::fixtures::diary::{
    Diary, DiaryUpdate, World, ask, graph_in, log_of, memory, note, over, world, wrote,
};

/// Lets a test hold the node `held`.
#[derive(Default)]
struct Gate {
    reached: Notify,
    open: Notify,
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
        let mut events = self
            .run(input)
            .stream(StreamMode::Values)
            .accepted()
            .await
            .unwrap();
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
    run.await.unwrap().unwrap().into_state().log
}

#[tokio::test]
async fn an_enqueued_input_is_the_next_turn_of_the_active_run() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let setup = Setup::new(OnConflict::Enqueue);
        let first = tokio::spawn(setup.run("first").durability(durability).into_future());
        setup.gate.reached.notified().await;
        let second = setup.later("second").await;
        let third = setup.later("third").await;
        let turns = [
            "first", "held", "after@2", "second", "held", "after@5", "third", "held", "after@8",
        ];
        // Each call learns the outcome of its own turn; the run goes on to the last one.
        for _ in 0..2 {
            setup.open();
            setup.gate.reached.notified().await;
        }
        setup.open();
        assert_eq!(log(second).await, turns[..6], "{durability:?}");
        assert_eq!(log(third).await, turns);
        assert_eq!(log(first).await, turns);
        assert_eq!(log_of(&setup.graph, "t").await, turns);
    }
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
async fn an_input_with_a_goto_is_a_turn_of_its_own() {
    let setup = Setup::new(OnConflict::Join);
    let first = setup.first().await;
    let goto = Command::update(wrote("second")).and_goto("after");
    let second = setup.graph.run(goto).thread("t");
    let second = tokio::spawn(second.into_future());
    tokio::time::sleep(Duration::from_millis(20)).await;
    setup.open();
    // An input with a `goto` cannot be merged in the middle of a turn.
    let lines = ["first", "held", "after@2", "second", "after@4"];
    assert_eq!(log(second).await, lines);
    assert_eq!(log(first).await, lines);
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
async fn a_call_learns_that_the_run_that_took_its_input_failed() {
    let setup = Setup::new(OnConflict::Enqueue);
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
        "the run that took this input on thread `t` failed: node `held` failed: the world is broken"
    );
    assert!(first.await.unwrap().is_err());
    // Nothing is lost: the thread goes on with the input.
    setup.world.set_broken(false);
    let again = tokio::spawn(setup.graph.thread("t").proceed().into_future());
    setup.open();
    let lines = ["first", "held", "after@2", "second", "held", "after@5"];
    assert_eq!(log(again).await, lines);
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

/// A conversation whose tool waits for the test.
#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

#[tokio::test]
async fn a_message_joins_when_every_tool_call_has_its_result() {
    let gate = Arc::new(Gate::default());
    let mut graph = StateGraph::<Chat>::new();
    graph.resource(Arc::clone(&gate));
    graph.add_node("call", |_: &Chat| {
        let call = langgraph::message::ToolCall::new("1", "search", serde_json::json!({}));
        ChatUpdate::default().messages(vec![Message::assistant_with_tool_calls("", [call])])
    });
    graph.add_node("tool", async |_: &Chat, cx: &Context| {
        let gate = cx.resource::<Gate>()?;
        gate.reached.notify_one();
        gate.open.notified().await;
        Ok::<_, NodeError>(ChatUpdate::default().messages(vec![Message::tool("1", "found")]))
    });
    graph.add_node("slow", async |_: &Chat, cx: &Context| {
        let gate = cx.resource::<Gate>()?;
        gate.reached.notify_one();
        gate.open.notified().await;
        Ok::<_, NodeError>(())
    });
    graph.add_node("reply", |_: &Chat| {
        ChatUpdate::default().messages(vec![Message::assistant("done")])
    });
    graph.add_sequence(&["call", "slow", "tool", "reply"]);
    let graph = graph.compile().unwrap().checkpointer(memory());
    let graph = graph.on_conflict(OnConflict::Join);
    let say = |text: &str| ChatUpdate::default().messages(vec![Message::user(text)]);
    let first = tokio::spawn(graph.run(say("question")).thread("t").into_future());
    gate.reached.notified().await;
    let second = tokio::spawn(graph.run(say("and this")).thread("t").into_future());
    tokio::time::sleep(Duration::from_millis(20)).await;
    for _ in 0..2 {
        gate.open.notify_one();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for run in [first, second] {
        let chat = run.await.unwrap().unwrap().into_state();
        let texts: Vec<_> = chat.messages.iter().map(Message::text).collect();
        assert_eq!(texts, ["question", "", "found", "and this", "done"]);
    }
}
