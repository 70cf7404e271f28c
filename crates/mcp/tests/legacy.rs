//! Servers of a protocol version before 2026-07-28, which ask during a call and do not say for which one.
#![allow(clippy::unwrap_used)] // in what several tests share
#![allow(dead_code)] // of what the tests of tools share

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ToolNode};
use langgraph_mcp::{Elicited, Http, McpClient, Question};
use serde_json::{Value, json};

use support::{Seen, start_legacy};

async fn connected() -> (CompiledStateGraph<MessagesState>, Arc<Seen>) {
    let (address, seen) = start_legacy().await;
    let client = McpClient::connect(Http::new(address)).await.unwrap();
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("tools", ToolNode::new(client.tools().await.unwrap()))
        .add_sequence(&["tools"]);
    let graph = graph.compile().unwrap();
    (graph.checkpointer(Arc::new(MemorySaver::new())), seen)
}

fn calls(calls: &[(&str, Value)]) -> MessagesStateUpdate {
    let numbered = calls.iter().enumerate();
    let calls = numbered
        .map(|(n, (name, arguments))| ToolCall::new(format!("c{n}"), *name, arguments.clone()));
    let message = Message::assistant_with_tool_calls("", calls);
    MessagesStateUpdate::default().messages(vec![message])
}

fn answers(state: &MessagesState) -> Vec<String> {
    let results = state.messages.iter().filter_map(Message::tool_result);
    results
        .map(|result| result.content.text().into_owned())
        .collect()
}

/// Answers each question with ten times its number.
fn replies(outcome: &langgraph::run::Outcome<MessagesState>) -> BTreeMap<String, Elicited> {
    let interrupts = outcome.interrupts().iter();
    let replies = interrupts.map(|interrupt| {
        let question: Question = serde_json::from_value(interrupt.payload.clone()).unwrap();
        let number = question.message.chars().filter(char::is_ascii_digit);
        let number: u64 = number.collect::<String>().parse().unwrap();
        let answer = Elicited::Accept(json!({"n": number * 10}));
        (interrupt.id.clone(), answer)
    });
    replies.collect()
}

#[tokio::test]
async fn a_question_beside_another_call_reaches_the_user() {
    let (graph, _) = connected().await;
    let both = calls(&[("ask", json!({"n": 1})), ("wait", json!({}))]);
    let outcome = graph.run(both).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1, "{:?}", outcome.state());
    let answered = graph.thread("t").resume_all(replies(&outcome)).await;
    assert_eq!(answers(answered.unwrap().state()), ["1: 10", "waited"]);
}

#[tokio::test]
async fn the_questions_of_several_calls_reach_the_user_and_the_right_call() {
    let (graph, _) = connected().await;
    let all = calls(&[
        ("ask", json!({"n": 1})),
        ("ask", json!({"n": 2})),
        ("ask", json!({"n": 3})),
    ]);
    let mut outcome = graph.run(all).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 3, "{:?}", outcome.state());
    outcome = graph
        .thread("t")
        .resume_all(replies(&outcome))
        .await
        .unwrap();
    assert_eq!(answers(outcome.state()), ["1: 10", "2: 20", "3: 30"]);
}

#[tokio::test]
async fn the_questions_of_several_threads_reach_their_own_users() {
    let (graph, seen) = connected().await;
    let runs = [1_u64, 2, 3].map(|n| {
        let graph = graph.clone();
        tokio::spawn(async move {
            let thread = format!("t{n}");
            let one = calls(&[("ask", json!({"n": n}))]);
            let paused = graph.run(one).thread(thread.as_str()).await.unwrap();
            assert_eq!(
                paused.interrupts()[0].payload["message"],
                format!("Question {n}?")
            );
            let replies = replies(&paused);
            let answered = graph.thread(thread.as_str()).resume_all(replies).await;
            assert_eq!(
                answers(answered.unwrap().state()),
                [format!("{n}: {}", n * 10)]
            );
        })
    });
    for run in runs {
        tokio::time::timeout(Duration::from_secs(20), run)
            .await
            .unwrap()
            .unwrap();
    }
    assert!(seen.asked.load(Ordering::SeqCst) >= 6);
}
