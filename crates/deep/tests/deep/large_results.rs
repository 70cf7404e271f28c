//! Results that are too large for a chat.

use std::sync::Arc;

use langgraph::graph::CompiledStateGraph;
use langgraph_agent::{FnTool, MessagesState, MessagesStateUpdate, ToolError, async_trait};
use langgraph_deep::{
    CompositeFiles, DiskFiles, FILES, FileContext, Files, StateFiles, StoreFiles, deep_agent,
};
use serde_json::json;
use tempfile::TempDir;

use super::support::{answers_with, call, calls, compiled, model, results, says};

fn search() -> FnTool {
    FnTool::new("search", "Searches.", || async {
        let lines = (0..1000).map(|n| format!("result number {n}"));
        lines.collect::<Vec<_>>().join("\n")
    })
}

/// The digest of what a search answers, in the name of its file.
const DIGEST: &str = "f1bfb7495e750681";

/// Returns what a search answers, and a `grep` of it, of an agent with these files.
async fn found(files: impl Files) -> Vec<String> {
    let turns = [
        call("c1", "search", json!({})),
        call("c2", "grep", json!({"pattern": "number 777$"})),
        says("done"),
    ];
    let agent = deep_agent(model(turns)).files(files).tools((search(),));
    let agent = compiled(agent.results_above(1000));
    let outcome = agent.thread("t").run(MessagesStateUpdate::user("?")).await;
    results(&outcome.unwrap().finished().unwrap())
}

#[tokio::test]
async fn a_large_result_becomes_a_file_in_every_place() {
    let folder = TempDir::new().unwrap();
    let in_store = CompositeFiles::new(StateFiles)
        .at("/large_tool_results", StoreFiles::new(["results"]))
        .unwrap();
    let places: [Arc<dyn Files>; 3] = [
        Arc::new(DiskFiles::new(folder.path())),
        Arc::new(StoreFiles::new(["files"])),
        Arc::new(in_store),
    ];
    for files in places {
        let found = found(files).await;
        let path = format!("/large_tool_results/c1_{DIGEST}");
        assert!(found[0].contains(&format!("`{path}`")), "{found:?}");
        assert_eq!(found[1], format!("{path}:778: result number 777"));
    }
    let written = format!("large_tool_results/c1_{DIGEST}");
    assert!(folder.path().join(written).exists());
}

/// Files that nothing can be added to.
struct Printed;

#[async_trait]
impl Files for Printed {
    async fn read(&self, _: &str, _: FileContext<'_>) -> Result<Option<String>, ToolError> {
        Ok(None)
    }

    async fn write(&self, _: &str, _: &str, _: FileContext<'_>) -> Result<(), ToolError> {
        Err(ToolError::model("it is printed"))
    }

    async fn paths(&self, _: &str, _: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_large_result_stays_where_files_cannot_be_written() {
    let found = found(Printed).await;
    assert_eq!(found[0].lines().count(), 1000);
    assert_eq!(found[1], "nothing found");
}

#[tokio::test]
async fn a_large_result_becomes_a_file_that_the_model_reads_in_parts() {
    let path = format!("/large_tool_results/call_1_{DIGEST}");
    let turns = [
        call("call/1", "search", json!({})),
        call("c2", "grep", json!({"pattern": "number 777$"})),
        call("c3", "read_file", json!({"path": path, "limit": 1000})),
        says("done"),
    ];
    let agent = deep_agent(model(turns))
        .tools((search(),))
        .results_above(1000);
    let agent = compiled(agent);
    let outcome = agent.thread("t").run(MessagesStateUpdate::user("?")).await;
    let state = outcome.unwrap().finished().unwrap();
    let results = results(&state);
    assert!(results[0].contains(&format!("`{path}`")), "{}", results[0]);
    assert!(results[0].contains("1000 lines"), "{}", results[0]);
    assert!(results[0].ends_with("result number 9"), "{}", results[0]);
    assert_eq!(results[1], format!("{path}:778: result number 777"));
    // What a tool for files returns stays in the chat.
    assert!(results[2].contains("result number 999"), "{}", results[2]);
    assert_eq!(FILES.read(&state.middleware).unwrap().len(), 1);
}

#[tokio::test]
async fn a_large_result_that_is_the_answer_stays_in_the_chat() {
    let agent = deep_agent(model([call("c1", "search", json!({}))]));
    let agent = agent
        .tools((search().return_directly(),))
        .results_above(1000);
    let outcome = compiled(agent)
        .thread("t")
        .run(MessagesStateUpdate::user("?"));
    let found = results(&outcome.await.unwrap().finished().unwrap());
    assert!(found[0].ends_with("result number 999"), "{}", found[0]);
}

/// Each search finds other lines.
fn numbered() -> FnTool {
    let numbers = std::sync::atomic::AtomicUsize::new(0);
    FnTool::new("search", "Searches.", move || {
        let number = numbers.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move { vec![format!("result of search {number}"); 1000].join("\n") }
    })
}

#[tokio::test]
async fn large_results_of_calls_with_the_same_id_are_files_of_their_own() {
    let again = || call("c1", "search", json!({}));
    let agent = deep_agent(model([again(), again(), says("done")]));
    let agent = compiled(agent.tools((numbered(),)).results_above(1000));
    assert_eq!(kept(&agent).await, ["search 0", "search 1"]);
}

#[tokio::test]
async fn large_results_of_sub_agents_in_parallel_are_files_of_their_own_in_their_parent() {
    // Their providers count calls anew.
    let searcher = || deep_agent(model([call("c1", "search", json!({})), says("found")]));
    let task = |agent: &str| json!({"agent": agent, "description": "Search!"});
    let (left, right) = (task("left"), task("right"));
    let boss = model([
        calls([("c1", "task", left), ("c2", "task", right)]),
        says("done"),
    ]);
    let search = numbered();
    let searcher = || searcher().tools((search.clone(),)).results_above(1000);
    let agent = deep_agent(boss)
        .subagent("left", "searches", searcher())
        .subagent("right", "searches", searcher());
    assert_eq!(kept(&compiled(agent)).await, ["search 0", "search 1"]);
}

/// Returns the ends of the large results that are files after a run.
async fn kept(agent: &CompiledStateGraph<MessagesState>) -> Vec<String> {
    let outcome = agent.thread("t").run(MessagesStateUpdate::user("?")).await;
    let state = outcome.unwrap().finished().unwrap();
    let files = FILES.read(&state.middleware).unwrap();
    let ends = files.values().filter_map(|text| text.rsplit(" of ").next());
    let mut ends: Vec<String> = ends.map(str::to_owned).collect();
    ends.sort();
    ends
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
