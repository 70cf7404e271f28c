//! Nodes that wait for a time or an event, in `langgraph-wait`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::{AgentError, CheckpointError};
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::{
    Approval, FnTool, HumanInTheLoop, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn,
    react_agent,
};
use langgraph_tests::ByteSaver;
use langgraph_wait::{WaitExt as _, Waits, WakeExt as _, due, wake_due};

const HOUR: Duration = Duration::from_secs(3_600);

/// A time that does not depend on the test's clock.
fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + 500_000 * HOUR
}

fn sleeper(saver: Arc<ByteSaver>) -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    let sleep = |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        cx.sleep_until(noon())?;
        cx.sleep_until(noon() + HOUR)?;
        Ok(n + 1)
    };
    graph.add_node("sleep", sleep).add_sequence(&["sleep"]);
    graph.compile().unwrap().checkpointer(saver)
}

#[tokio::test]
async fn m5_a_sleeping_thread_outlives_its_process() {
    let saver = Arc::new(ByteSaver::default());
    let outcome = sleeper(saver.clone()).run(1).thread("t").await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted { .. }));

    // A new process has nothing but the saver.
    let graph = sleeper(saver.clone());
    assert!(
        wake_due(&graph, noon() - HOUR / 2)
            .await
            .unwrap()
            .is_empty()
    );
    let woken = wake_due(&graph, noon()).await.unwrap();
    assert!(matches!(woken[0].outcome, Ok(Outcome::Interrupted { .. })));
    // The second sleep is a wait of its own.
    assert!(wake_due(&graph, noon()).await.unwrap().is_empty());

    let graph = sleeper(saver.clone());
    let due = due(&*saver, noon() + HOUR).await.unwrap();
    assert_eq!(
        (&*due[0].thread, &*due[0].path),
        ("t", &["sleep".to_owned()][..])
    );
    assert_eq!(due[0].until, Some(noon() + HOUR));
    let woken = wake_due(&graph, noon() + HOUR).await.unwrap();
    assert_eq!(woken[0].outcome.as_ref().unwrap(), &Outcome::done(2));
    assert!(
        wake_due(&graph, noon() + 9 * HOUR)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn m5_a_clock_that_is_set_moves_what_is_due() {
    let saver = Arc::new(ByteSaver::default());
    let graph = sleeper(saver.clone());
    graph.run(1).thread("t").await.unwrap();
    let mut waits = Waits::new();
    waits.read(&*saver).await.unwrap();
    // Forward, back, and forward again.
    assert_eq!(waits.due(noon()).len(), 1);
    assert_eq!(waits.due(noon() - HOUR).len(), 0);
    assert_eq!(waits.next(), Some(noon()));

    let thread = graph.thread("t");
    assert!(thread.wake(noon() - HOUR).await.unwrap().is_none());
    thread.wake(noon()).await.unwrap().unwrap().await.unwrap();
    // The clock goes back behind a sleep that is over: the thread does not sleep it again.
    waits.read(&*saver).await.unwrap();
    assert_eq!(waits.next(), Some(noon() + HOUR));
    assert!(thread.wake(noon() - HOUR).await.unwrap().is_none());
}

fn buyer(saver: Arc<MemorySaver>) -> CompiledStateGraph<String> {
    let mut graph = StateGraph::<String>::new();
    let wait = |_: &String, cx: &Context| -> Result<String, NodeError> {
        Ok(match cx.wait_for::<u32>("paid", noon())? {
            Some(cents) => format!("{cents} cents"),
            None => "nothing".to_owned(),
        })
    };
    graph.add_node("wait", wait).add_sequence(&["wait"]);
    graph.compile().unwrap().checkpointer(saver)
}

#[tokio::test]
async fn m5_an_event_or_the_deadline_ends_a_wait() {
    let saver = Arc::new(MemorySaver::new());
    let graph = buyer(saver.clone());
    for thread in ["anna", "bert"] {
        graph.run(String::new()).thread(thread).await.unwrap();
    }
    let anna = graph.thread("anna");
    assert_eq!(anna.waits().await.unwrap()[0].events, ["paid"]);

    // A payload of another type is refused, and the thread waits on.
    let refused = anna.signal("paid", "much").await.unwrap_err();
    assert!(refused.refused_answer().is_some(), "{refused}");
    let outcome = anna.signal("paid", 5).await.unwrap();
    assert_eq!(outcome.finished().unwrap(), "5 cents");

    for event in ["paid", "other"] {
        let missing = anna.signal(event, 5).await.unwrap_err();
        let AgentError::Checkpoint(CheckpointError::NothingToResume { key, .. }) = missing else {
            panic!("{missing}");
        };
        assert_eq!(key, event);
    }

    let woken = wake_due(&graph, noon()).await.unwrap();
    assert_eq!(woken.len(), 1);
    assert_eq!(woken[0].outcome.as_ref().unwrap().state(), "nothing");
}

#[tokio::test]
async fn m5_a_thread_that_several_programs_wake_goes_on_once() {
    static WOKEN: AtomicU32 = AtomicU32::new(0);
    let saver = Arc::new(ByteSaver::default());
    let program = || {
        let mut graph = StateGraph::<i64>::new();
        let wait = async |n: &i64, cx: &Context| -> Result<i64, NodeError> {
            cx.sleep_until(noon())?;
            WOKEN.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(n + 1)
        };
        graph.add_node("wait", wait).add_sequence(&["wait"]);
        graph.compile().unwrap().checkpointer(saver.clone())
    };
    for thread in 0..20 {
        program()
            .run(1)
            .thread(format!("t-{thread}"))
            .await
            .unwrap();
    }
    let wakers = (0..4).map(|_| {
        let graph = program();
        tokio::spawn(async move { wake_due(&graph, noon()).await.unwrap() })
    });
    let mut woken = Vec::new();
    for waker in wakers.collect::<Vec<_>>() {
        woken.extend(waker.await.unwrap());
    }
    assert_eq!(woken.len(), 20, "{woken:?}");
    assert!(
        woken
            .iter()
            .all(|woken| woken.outcome.as_ref().unwrap() == &Outcome::done(2))
    );
    assert_eq!(WOKEN.load(Ordering::SeqCst), 20);
}

#[derive(State, Clone, Debug, Default)]
struct Reminders {
    hours: Vec<u32>,
    #[reducer(append)]
    sent: Vec<u32>,
}

#[node]
async fn remind(hour: u32, _: &Reminders, cx: &Context) -> Result<RemindersUpdate, NodeError> {
    cx.sleep_until(noon() + hour * HOUR)?;
    Ok(RemindersUpdate::default().sent(vec![hour]))
}

fn hours(state: &Reminders) -> Vec<u32> {
    state.hours.clone()
}

#[tokio::test]
async fn m5_parallel_tasks_wait_each_for_its_own_time() {
    let graph = graph! { START => for hour in hours { remind(hour) } => END };
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let hours = RemindersUpdate::default().hours(vec![3, 1, 2]);
    graph.run(hours).thread("t").await.unwrap();
    for hour in 1..3 {
        let woken = wake_due(&graph, noon() + hour * HOUR).await.unwrap();
        assert!(matches!(woken[0].outcome, Ok(Outcome::Interrupted { .. })));
    }
    let woken = wake_due(&graph, noon() + 3 * HOUR).await.unwrap();
    assert_eq!(woken[0].outcome.as_ref().unwrap().state().sent, [3, 1, 2]);
}

#[tokio::test]
async fn m5_a_wait_inside_a_subgraph_is_due_and_a_persons_question_is_not() {
    let mut inside = StateGraph::<i64>::new();
    let wait = |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        cx.sleep_until(noon())?;
        Ok(n + cx.interrupt::<i64>("how much", "How much?")?)
    };
    inside.add_node("wait", wait).add_sequence(&["wait"]);
    let mut outer = StateGraph::<i64>::new();
    outer
        .add_node("inside", inside.compile().unwrap())
        .add_sequence(&["inside"]);
    let saver = Arc::new(MemorySaver::new());
    let graph = outer.compile().unwrap().checkpointer(saver.clone());
    graph.run(1).thread("t").await.unwrap();

    let due_now = due(&*saver, noon()).await.unwrap();
    assert_eq!(due_now[0].path, ["inside", "wait"]);
    wake_due(&graph, noon()).await.unwrap();
    assert!(due(&*saver, noon() + HOUR).await.unwrap().is_empty());
    let outcome = graph.thread("t").answer(41).await.unwrap();
    assert_eq!(outcome.finished().unwrap(), 42);
}

#[tokio::test]
async fn k3_what_wakes_waits_takes_the_default_of_an_expired_approval() {
    let pay = FnTool::new("pay", "Pays.", || async { "paid" });
    let model = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c1", "pay", serde_json::json!({}))]),
        Turn::text("It was not paid."),
    ]);
    let hour = Approval::all()
        .approvers(|person, _| person == "ada")
        .expires_in(HOUR, ToolDecision::reject("no answer in time"));
    let saver = Arc::new(MemorySaver::new());
    let agent = react_agent(model, (pay,)).with(HumanInTheLoop::new(hour));
    let agent = agent.compile().unwrap().checkpointer(saver.clone());
    let paused = agent.run(MessagesStateUpdate::user("Pay!")).thread("t");
    assert_eq!(paused.await.unwrap().interrupts().len(), 1);

    let now = SystemTime::now();
    assert!(due(&*saver, now).await.unwrap().is_empty());
    let later = due(&*saver, now + 2 * HOUR).await.unwrap();
    assert_eq!((later.len(), &*later[0].thread), (1, "t"));
    assert_eq!(later[0].answer()["type"], "reject");
}
