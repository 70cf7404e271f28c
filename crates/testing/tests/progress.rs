//! The progress of an evaluation, as a program without a terminal shows it.
#![cfg(feature = "progress")]
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::process::Command;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph_testing::eval::{Answer, Dataset, Evaluation};

/// Not a test of its own: the program whose lines the other one reads.
#[tokio::test]
#[ignore = "run by the other test"]
async fn evaluates() {
    let cases: Vec<_> = (0..30).map(|n| format!("{{\"input\": {n}}}")).collect();
    let evaluation = Evaluation::new("thirty", |case| async move { Ok(Answer::new(case.input)) });
    let evaluation = evaluation.concurrency(1).progress_bar();
    let saver = Arc::new(MemorySaver::new());
    let cases = Dataset::parse(&cases.join("\n")).unwrap();
    evaluation.run(cases, saver).await.unwrap();
}

#[test]
fn k9_without_a_terminal_there_is_a_line_for_each_tenth() {
    let mut itself = Command::new(std::env::current_exe().unwrap());
    let output = itself
        .args(["--exact", "evaluates", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = errors.lines().collect();
    let expected: Vec<_> = (1..=10)
        .map(|tenth| format!("thirty: {} of 30", tenth * 3))
        .collect();
    assert_eq!(lines, expected);
}
