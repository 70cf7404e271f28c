//! The agent of the first command, and the ready-made agents on the offline model.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod folders;
mod programs;
mod questions;

use folders::Folder;
use langgraph::prelude::*;
use langgraph_agent::{
    FnTool, MessagesStateUpdate, SimpleAgent, SimpleAgentState, ToolAgent, ToolAgentState,
    react_agent,
};
use langgraph_examples::offline_model::OfflineModel;
use langgraph_examples::reader::{CALCULATE, FIND_FILES, GET_CURRENT_TIME};
use programs::{command, printed};
use questions::{arithmetic_question, assert_counts, both, files_question};
use serde_json::{Value, json};
use std::path::Path;

/// The last line that the agent prints when it is asked in a folder.
fn ask_in(folder: &Path, question: &str) -> String {
    let output = command("agent")
        .arg(question)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{question}: {output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.lines().last().unwrap().to_owned()
}

#[test]
fn fifty_random_questions_are_answered_exactly() {
    let mut random = fastrand::Rng::with_seed(6);
    for round in 0..51 {
        let root = Folder::empty();
        let (sum, value) = arithmetic_question(&mut random);
        let (files, count) = files_question(&mut random, root.path());
        let question = match round % 3 {
            0 => sum.clone(),
            1 => files.clone(),
            _ => both(round, &sum, &files),
        };
        let answer = ask_in(root.path(), &question);
        if round % 3 != 1 {
            let expected = format!(" = {value}");
            let found = answer.split(&expected).nth(1);
            let ends = found.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
            assert!(ends, "{question}\n{answer}\nexpected `{expected}`");
        }
        if round % 3 != 0 {
            assert_counts(&answer, count, &question);
        }
    }
}

#[test]
fn the_first_command_shows_its_steps_and_answers() {
    let root = Folder::with(&["one.rs"]);
    let question = "What is 37 * 21, and how many .rs files are in this folder?";
    let output = command("agent")
        .arg(question)
        .current_dir(root.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    // The tools of a step run at the same time: either may end first.
    lines[3..5].sort_unstable();
    let expected = [
        "model: the built-in rule-based model, which needs no key and no network",
        "step 1, think: calls calculate(expression: \"37 * 21\")",
        "step 1, think: calls find_files(extension: \"rs\", folder: \".\")",
        "step 2, act: calculate -> 777",
        "step 2, act: find_files -> {\"count\":1,\"files\":[\"one.rs\"]}",
        "step 3, think: answers",
        "",
        "37 * 21 = 777, and there is 1 .rs file in this folder.",
    ];
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn a_result_can_lead_to_another_call() {
    let root = Folder::with(&["a.md", "b.md", "c.md"]);
    assert_eq!(
        ask_in(root.path(), "What is 7 times the number of markdown files?"),
        "There are 3 .md files in this folder, and 7 * 3 = 21."
    );
}

#[test]
fn the_graph_is_printed_as_mermaid() {
    let mermaid = printed("agent", &["--graph"]);
    for part in [
        "graph TD;",
        "__start__ --> think;",
        "act --> think;",
        ".-> __end__;",
    ] {
        assert!(mermaid.contains(part), "no `{part}` in\n{mermaid}");
    }
}

#[test]
fn without_a_question_it_says_how_to_ask() {
    let output = command("agent").output().unwrap();
    assert!(!output.status.success());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.starts_with("error: what is the question?"),
        "{errors}"
    );
}

#[cfg(not(feature = "models"))]
#[test]
fn a_key_without_the_feature_is_not_ignored_silently() {
    for key in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "GEMINI_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "OLLAMA_HOST",
        "OPENAI_BASE_URL",
    ] {
        let output = command("agent").arg("hi").env(key, "x").output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(&format!("{key} is set")), "{printed}");
        assert!(printed.contains("--features models"), "{printed}");
    }
}

#[tokio::test]
async fn the_answer_follows_an_altered_result() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..20 {
        let (value, count) = (random.i64(..), random.u64(2..));
        let calculate = FnTool::new(CALCULATE, "Lies.", move |_: Value| async move { value });
        let find_files = FnTool::new(FIND_FILES, "Lies.", move |_: Value| async move {
            json!({ "count": count, "files": [] }).to_string()
        });
        let agent = react_agent(OfflineModel, (calculate, find_files))
            .compile()
            .unwrap();
        let question = "What is 37 * 21, and how many .rs files are in this folder?";
        let input = MessagesStateUpdate::default().messages(vec![Message::user(question)]);
        let state = agent.invoke(input).await.unwrap();
        assert_eq!(
            state.messages.last().unwrap().text(),
            format!("37 * 21 = {value}, and there are {count} .rs files in this folder.")
        );
    }
}

#[tokio::test]
async fn g4_a_simple_agent_greets() {
    let state = SimpleAgent::new(OfflineModel)
        .run(SimpleAgentState::user("你好"))
        .await
        .unwrap();
    assert_eq!(state.messages.len(), 2);
    assert!(state.messages[1].text().starts_with("你好！"));
}

#[tokio::test]
async fn g6_a_tool_agent_returns_the_time_in_four_messages_and_two_iterations() {
    let now = FnTool::new(GET_CURRENT_TIME, "The time.", || async {
        "2024-01-01 12:00:00"
    });
    let agent = ToolAgent::new(OfflineModel, (now,));
    let state = agent
        .run(ToolAgentState::user("现在几点了？"))
        .await
        .unwrap();
    assert_eq!((state.messages.len(), state.iterations), (4, 2));
    assert_eq!(state.messages[3].text(), "现在是 2024-01-01 12:00:00。");
}
