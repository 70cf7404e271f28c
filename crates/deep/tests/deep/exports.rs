//! Tests that are made of threads with sub-agents and files.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::CompiledStateGraph;
use langgraph::message::ToolCall;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ScriptedModel, Turn};
use langgraph_deep::deep_agent;
use langgraph_testing::{Exported, ExportedThread, export};
use serde_json::{Value, json};

fn call(id: &str, name: &str, arguments: Value) -> Turn {
    Turn::tool_calls([ToolCall::new(id, name, arguments)])
}

fn sub_agent() -> Vec<Turn> {
    let content = "Ada drinks tea.";
    vec![
        call("c1", "read_file", json!({"path": "/notes/Ada.md"})),
        call(
            "c2",
            "write_file",
            json!({"path": "/found/Ada.md", "content": content}),
        ),
        Turn::text("Ada drinks tea."),
    ]
}

fn boss() -> Vec<Turn> {
    let task = json!({"agent": "searcher", "description": "What does Ada drink?"});
    let edit = json!({"path": "/notes/Ada.md", "old_string": "About", "new_string": "On"});
    vec![
        call(
            "c1",
            "write_file",
            json!({"path": "/notes/Ada.md", "content": "About Ada"}),
        ),
        call("c2", "task", task),
        call("c3", "edit_file", edit),
        call("c4", "read_file", json!({"path": "/found/Ada.md"})),
        Turn::text("Ada drinks tea."),
    ]
}

/// Returns an agent whose prompts are these, that of its sub-agent last.
fn agent(
    [boss, searcher]: [Vec<Turn>; 2],
    prompts: [&str; 2],
) -> CompiledStateGraph<MessagesState> {
    let searcher = deep_agent(ScriptedModel::new(searcher)).prompt(prompts[1]);
    let agent = deep_agent(ScriptedModel::new(boss)).prompt(prompts[0]);
    let agent = agent.subagent("searcher", "Finds facts.", searcher);
    agent.compile().unwrap()
}

async fn passes(exported: &Exported, prompts: [&str; 2]) -> bool {
    let thread = ExportedThread::parse(&exported.thread, &exported.cassette);
    let thread = thread.await.unwrap();
    let today = agent([Vec::new(), Vec::new()], prompts);
    let report = thread.replay(&today).await.unwrap();
    thread.check(&report).is_ok()
}

#[tokio::test]
async fn a_thread_with_a_sub_agent_becomes_a_test_that_sees_changes_of_both() {
    let prompts = ["You help.", "You search."];
    let saver = Arc::new(MemorySaver::new());
    let graph = agent([boss(), sub_agent()], prompts).checkpointer(saver.clone());
    let question = MessagesStateUpdate::user("What does Ada drink?");
    graph.thread("Ada").run(question).await.unwrap();

    let today = agent([Vec::new(), Vec::new()], prompts);
    let files = ["task", "read_file", "write_file", "edit_file"];
    // What the tool `task` runs is compared if it runs.
    for (tools, inside) in [(&files[..0], false), (&files[..1], true), (&files, true)] {
        let exported = export(saver.clone(), &today, "Ada").secret("Ada");
        let exported = exported.run_tools(tools.to_vec()).await.unwrap();
        for (name, text) in exported.files() {
            assert!(!name.contains("ada") && !text.contains("Ada"), "{text}");
        }
        let unchecked = exported.report.to_string().contains("name the tool in");
        assert_eq!(unchecked, !inside, "{}", exported.report);
        assert!(passes(&exported, prompts).await, "{tools:?}");
        assert!(!passes(&exported, ["You do not.", prompts[1]]).await);
        let other = passes(&exported, [prompts[0], "You do not."]).await;
        assert_eq!(other, !inside, "{tools:?}");
    }
}
