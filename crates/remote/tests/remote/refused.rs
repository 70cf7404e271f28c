//! Answers that a remote agent refuses, and callers that vanish while it asks.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::ErrorKind;
use langgraph::prelude::*;
use langgraph::thread::OnOpenInterrupt;
use langgraph_remote::{RemoteNode, ServedGraph, Transport, serve};
use serde_json::json;

use crate::mail::*;

/// Asks for a number of seats, at most nine.
fn booking() -> ServedGraph<String> {
    let mut agent = StateGraph::<String>::new();
    agent.add_node("book", |text: &String, cx: &Context| {
        let seats: u8 = cx.interrupt_checked("seats", "How many?", |seats| match seats {
            1..=9 => Ok(seats),
            _ => Err(format!("{seats} seats; there are 9")),
        })?;
        Ok::<_, NodeError>(format!("{text}: {seats}"))
    });
    agent.add_sequence(&["book"]);
    let agent = agent.compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    serve(agent, |text: String| text, |state| state).conversations()
}

#[derive(State, Clone, Debug, Default)]
struct Booked {
    #[reducer(append)]
    lines: Vec<String>,
}

/// Asks two things at once, under one key.
fn pair() -> ServedGraph<Booked> {
    let asks = |name: &'static str| {
        move |_: &Booked, cx: &Context| {
            let given: u8 = cx.interrupt("seats", name)?;
            Ok::<_, NodeError>(BookedUpdate::default().lines(vec![format!("{name}: {given}")]))
        }
    };
    let mut agent = StateGraph::<Booked>::new();
    for name in ["Rome", "Oslo"] {
        agent.add_node(name, asks(name)).add_edge(START, name);
    }
    let agent = agent.compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    serve(
        agent,
        |_: String| BookedUpdate::default(),
        |state| state.lines.join(", "),
    )
    .conversations()
}

fn caller(transport: impl Transport, conversing: bool) -> CompiledStateGraph<String> {
    let mut ask = RemoteNode::new("booking", transport);
    if conversing {
        ask = ask.conversing();
    }
    let ask = ask.bind(|text: &String| Some(text.clone()), |reply: String| reply);
    let mut graph = StateGraph::<String>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    graph.compile().unwrap()
}

#[tokio::test]
async fn an_answer_that_the_agent_refuses_leaves_the_interrupt_open() {
    let graph = caller(local("booking", booking()), false);
    let thread = graph.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    thread.run("Rome".to_owned()).await.unwrap();
    for (wrong, why) in [
        (json!("many"), "the wrong form"),
        (json!(12), "there are 9"),
    ] {
        let error = thread.resume("seats", wrong).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RefusedAnswer, "{error}");
        assert!(error.to_string().contains(why), "{error}");
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(snapshot.interrupts.len(), 1, "{why}");
    }
    let done = thread.resume("seats", 4).await.unwrap();
    assert_eq!(done.finished().unwrap(), "Rome: 4");
}

#[tokio::test]
async fn the_refused_one_of_several_answers_is_asked_again_and_no_other() {
    let graph = caller(local("booking", pair()), false);
    let thread = graph.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    thread.run("go".to_owned()).await.unwrap();
    let paused = thread.answer(4).await.unwrap();
    assert_eq!(paused.interrupts()[0].payload, "Oslo");
    thread.answer("two").await.unwrap_err();
    let mut outcome = thread.answer(2).await.unwrap();
    // The agent may refuse before it has taken the other answer.
    if let [asked] = outcome.interrupts() {
        assert_eq!(asked.payload, "Rome");
        outcome = thread.answer(4).await.unwrap();
    }
    assert_eq!(outcome.finished().unwrap(), "Rome: 4, Oslo: 2");
}

#[tokio::test]
async fn a_caller_that_lost_its_pause_begins_anew_where_the_agent_dismisses_interrupts() {
    let begins_anew = booking().configure(|run, _| run.on_open_interrupt(OnOpenInterrupt::Dismiss));
    for (agent, begins) in [(booking(), false), (begins_anew, true)] {
        let graph = caller(local("booking", agent), true);
        // The saver of the first caller is lost with it.
        let first = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
        first.thread("t").run("Rome".to_owned()).await.unwrap();
        let thread = graph.checkpointer(Arc::new(MemorySaver::new())).thread("t");
        match thread.run("Oslo".to_owned()).await {
            Ok(paused) => {
                assert!(begins && paused.interrupts().len() == 1, "{paused:?}");
                let done = thread.resume("seats", 4).await.unwrap();
                assert_eq!(done.finished().unwrap(), "Oslo: 4");
            }
            Err(error) => {
                let error = error.to_string();
                assert!(!begins && error.contains("waits for an answer"), "{error}");
            }
        }
    }
}
