//! Results that are too large for a chat.

use langgraph_agent::{FnTool, MessagesStateUpdate};
use langgraph_deep::{FILES, deep_agent};
use serde_json::json;

use super::support::{call, compiled, model, results, says};

#[tokio::test]
async fn a_large_result_becomes_a_file_that_the_model_reads_in_parts() {
    let search = FnTool::new("search", "Searches.", || async {
        (0..1000)
            .map(|n| format!("result number {n}\n"))
            .collect::<String>()
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
