//! Agents that an agent hands work to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    HumanInTheLoop, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn, react_agent,
};
use langgraph_deep::{FILES, StateFiles, SubAgents, deep_agent};
use serde_json::json;

use super::support::{ByPosition, call, calls, compiled, model, results, says};

/// Counts its calls in a resource of the run.
#[tool]
async fn tick(cx: &ToolContext<'_>) -> Result<u32, ToolError> {
    Ok(cx.resource::<AtomicU32>()?.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Reads a file, writes another one, ticks, and answers.
fn worker(name: &str) -> ByPosition {
    let content = json!({"path": format!("/{name}.md"), "content": format!("by {name}")});
    model([
        call("r", "read_file", json!({"path": "/plan.md"})),
        call("w", "write_file", content),
        call("t", "tick", json!({})),
        says(&format!("{name} has worked")),
    ])
}

#[tokio::test]
async fn sub_agents_in_parallel_pause_and_go_on_and_none_works_twice() {
    let task = |agent: &str| json!({"agent": agent, "description": "Work!"});
    let boss = model([
        calls([
            ("c1", "task", task("fast")),
            ("c2", "task", task("careful")),
            ("c3", "task", task("wary")),
            ("c4", "task", task("nobody")),
        ]),
        call("c5", "ls", json!({})),
        says("All done."),
    ]);
    let ask = || HumanInTheLoop::new("tick");
    let agent = deep_agent(boss)
        .subagent("fast", "ticks", deep_agent(worker("fast")).tools((tick,)))
        .subagent(
            "careful",
            "asks",
            deep_agent(worker("careful")).tools((tick,)).with(ask()),
        )
        .subagent(
            "wary",
            "asks too",
            deep_agent(worker("wary")).tools((tick,)).with(ask()),
        );
    let ticks = Arc::new(AtomicU32::new(0));
    let agent = compiled(agent).resource(Arc::clone(&ticks));
    let thread = agent.thread("t");
    let files = StateFiles::update([("/plan.md", "the plan")]);
    let input = MessagesStateUpdate::user("Go!").middleware(files);
    let outcome = thread.run(input).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 2, "{outcome:?}");
    assert_eq!(ticks.load(Ordering::Relaxed), 1);

    let ids: Vec<String> = outcome
        .interrupts()
        .iter()
        .map(|one| one.id.clone())
        .collect();
    let no = ToolDecision::reject("No ticks.");
    let outcome = thread.resume(&*ids[1], no).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    let outcome = thread
        .resume(&*ids[0], ToolDecision::Approve)
        .await
        .unwrap();
    let state = outcome.finished().unwrap();
    assert_eq!(ticks.load(Ordering::Relaxed), 2);
    let results = results(&state);
    assert_eq!(
        results[..3],
        ["fast has worked", "careful has worked", "wary has worked"]
    );
    assert!(
        results[3].contains("there is no agent `nobody`"),
        "{results:?}"
    );
    assert_eq!(results[4], "/careful.md\n/fast.md\n/plan.md\n/wary.md");
    let files = FILES.read(&state.middleware).unwrap();
    assert_eq!(files["/wary.md"], "by wary");
}

#[tokio::test]
async fn a_sub_agent_sees_the_files_of_all_agents_above_and_not_the_chat() {
    let leaf = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("g", "grep", json!({"pattern": "."}))]),
        Turn::tool_calls([ToolCall::new(
            "e",
            "edit_file",
            json!({"path": "/top.md", "old_string": "top", "new_string": "changed"}),
        )]),
        Turn::text("leaf done"),
    ]);
    let middle = model([
        call(
            "w",
            "write_file",
            json!({"path": "/middle.md", "content": "middle"}),
        ),
        call(
            "l",
            "task",
            json!({"agent": "leaf", "description": "Search!"}),
        ),
        call("r", "read_file", json!({"path": "/top.md"})),
        says("middle done"),
    ]);
    let middle = deep_agent(middle).subagent("leaf", "searches", deep_agent(leaf.clone()));
    let top = model([
        call(
            "m",
            "task",
            json!({"agent": "middle", "description": "Look!"}),
        ),
        call("r", "read_file", json!({"path": "/top.md"})),
        says("top done"),
    ]);
    let agent = compiled(deep_agent(top).subagent("middle", "looks", middle));
    let files = StateFiles::update([("/top.md", "top")]);
    let input = MessagesStateUpdate::user("A secret of the chat.").middleware(files);
    let outcome = agent.thread("t").run(input).await.unwrap();
    let state = outcome.finished().unwrap();
    let seen = &leaf.requests()[1].messages;
    assert_eq!(seen[1].text(), "Search!");
    assert_eq!(seen[3].text(), "/middle.md:1: middle\n/top.md:1: top");
    assert!(!seen.iter().any(|message| message.text().contains("secret")));
    assert_eq!(results(&state), ["middle done", "     1\tchanged\n"]);
    let files = FILES.read(&state.middleware).unwrap();
    assert_eq!(
        files.into_keys().collect::<Vec<_>>(),
        ["/middle.md", "/top.md"]
    );
}

#[tokio::test]
async fn an_agent_without_files_hands_over_to_one_that_has_its_own() {
    let writer = deep_agent(worker("writer"))
        .tools((tick,))
        .compile()
        .unwrap();
    let boss = model([
        call(
            "c",
            "task",
            json!({"agent": "writer", "description": "Write!"}),
        ),
        says("done"),
    ]);
    let agent = react_agent(boss, ()).with(SubAgents::new().agent("writer", "writes", writer));
    let agent = agent
        .compile()
        .unwrap()
        .resource(Arc::new(AtomicU32::new(0)));
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let outcome = agent
        .thread("t")
        .run(MessagesStateUpdate::user("?"))
        .await
        .unwrap();
    let state = outcome.finished().unwrap();
    assert_eq!(results(&state), ["writer has worked"]);
    assert!(FILES.read(&state.middleware).unwrap().is_empty());
}
