//! Results that are too large for a chat.

use langgraph_agent::{FnTool, MessagesStateUpdate};
use langgraph_deep::{FILES, StateFiles, deep_agent};
use serde_json::json;

use super::support::{answers_with, call, compiled, model, results, says};

#[tokio::test]
async fn a_large_result_becomes_a_file_that_the_model_reads_in_parts() {
    let search = FnTool::new("search", "Searches.", || async {
        let lines = (0..1000).map(|n| format!("result number {n}"));
        lines.collect::<Vec<_>>().join("\n")
    });
    let turns = [
        call("call/1", "search", json!({})),
        call("c2", "grep", json!({"pattern": "number 777$"})),
        call(
            "c3",
            "read_file",
            json!({"path": "/large_tool_results/call_1", "limit": 1000}),
        ),
        says("done"),
    ];
    let agent = deep_agent(model(turns))
        .tools((search,))
        .results_above(1000);
    let agent = compiled(agent);
    let outcome = agent.thread("t").run(MessagesStateUpdate::user("?")).await;
    let state = outcome.unwrap().finished().unwrap();
    let results = results(&state);
    assert!(
        results[0].contains("`/large_tool_results/call_1`"),
        "{}",
        results[0]
    );
    assert!(results[0].contains("1000 lines"), "{}", results[0]);
    assert!(results[0].ends_with("result number 9"), "{}", results[0]);
    assert_eq!(
        results[1],
        "/large_tool_results/call_1:778: result number 777"
    );
    // What a tool for files returns stays in the chat.
    assert!(results[2].contains("result number 999"), "{}", results[2]);
    assert_eq!(FILES.read(&state.middleware).unwrap().len(), 1);
}

#[tokio::test]
async fn a_large_file_is_read_in_parts() {
    let line = "x".repeat(5_000);
    let text = vec![line; 100].join("\n");
    let of = [
        ("write_file", json!({"path": "/long", "content": text})),
        ("read_file", json!({"path": "/long"})),
        (
            "read_file",
            json!({"path": "/long", "offset": 40, "limit": 1}),
        ),
    ];
    let answers = answers_with(StateFiles, &of).await;
    // A line is cut, and so is a file.
    let shown = answers[1].lines().count();
    assert!(answers[1].len() < 90_000, "{}", answers[1].len());
    assert!(answers[1].ends_with(&format!("(lines {shown} to 100 follow)\n")));
    assert!(answers[2].starts_with("    41\tx"), "{}", answers[2]);
    assert!(answers[2].ends_with("x…\n(lines 42 to 100 follow)\n"));
}
