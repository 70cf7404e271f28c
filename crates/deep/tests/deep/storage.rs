//! What files cost when a superstep is stored.

use std::sync::Arc;

use langgraph::checkpoint::{Administration as _, Checkpointer};
use langgraph::graph::CompiledStateGraph;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_deep::{FILES, StateFiles, deep_agent};
use serde_json::json;

use super::saver;
use super::support::{call, model, says};

/// In each run, a sub-agent writes a file of a kilobyte, and the agent edits one.
fn agent(runs: usize) -> CompiledStateGraph<MessagesState> {
    let kilobyte = "x".repeat(1_000);
    let writer = model([
        call(
            "w",
            "write_file",
            json!({"path": "/part.md", "content": kilobyte}),
        ),
        says("written"),
    ]);
    let turns = (0..runs).flat_map(|run| {
        let (id, path) = (format!("w{run}"), format!("/own{run}.md"));
        let edit = json!({"path": "/note.md", "old_string": format!("{run}"), "new_string": format!("{}", run + 1)});
        [
            call(&format!("t{run}"), "task", json!({"agent": "writer", "description": "Write!"})),
            call(&id, "write_file", json!({"path": path, "content": kilobyte})),
            call(&format!("e{run}"), "edit_file", edit),
            says("done"),
        ]
    });
    let agent = deep_agent(model([says("hello")].into_iter().chain(turns)));
    agent
        .subagent("writer", "writes", deep_agent(writer))
        .compile()
        .unwrap()
}

/// Returns the bytes that three runs store, in a thread that has these files.
async fn bytes(files: Vec<(String, String)>) -> u64 {
    let count = files.len();
    let saver = Arc::new(saver());
    let agent = agent(3).checkpointer(Arc::clone(&saver) as Arc<dyn Checkpointer>);
    let thread = agent.thread("t");
    let seed = StateFiles::update(files.into_iter().chain([("/note.md".into(), "0".into())]));
    let seed = MessagesStateUpdate::user("Hello!").middleware(seed);
    assert!(thread.run(seed).await.unwrap().is_done());
    let before = saver.usage("t").await.unwrap().bytes;
    for _ in 0..3 {
        let outcome = thread.run(MessagesStateUpdate::user("Go!")).await.unwrap();
        assert!(outcome.is_done());
    }
    let state = thread.state().await.unwrap().unwrap().values;
    let files = FILES.read(&state.middleware).unwrap();
    assert_eq!(files.len(), count + 5);
    assert_eq!(files["/note.md"], "3");
    saver.usage("t").await.unwrap().bytes - before
}

#[tokio::test]
async fn supersteps_store_as_much_with_fifty_megabytes_of_files_as_with_none() {
    let text = "All work and no play. ".repeat(2_273);
    let many = (0..1_000)
        .map(|n| (format!("/data/{n}.txt"), text.clone()))
        .collect();
    let (without, with) = (bytes(Vec::new()).await, bytes(many).await);
    assert!(
        with.abs_diff(without) * 5 <= without,
        "{without} and {with} bytes"
    );
}
