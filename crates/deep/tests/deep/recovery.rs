//! Runs of agents on three levels that die, and go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use langgraph::checkpoint::{Checkpointer, MemorySaver};
use langgraph::error::{CheckpointError, NodeError};
use langgraph::graph::CompiledStateGraph;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_deep::{CompositeFiles, DiskFiles, FILES, StateFiles, deep_agent};
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};
use serde_json::json;
use tempfile::TempDir;

use super::saver;
use super::support::{call, model, says};

/// A process that dies after so many writes of its saver.
#[derive(Default)]
struct World {
    writes_left: AtomicUsize,
    /// What the tool has done.
    done: Mutex<Vec<String>>,
}

impl World {
    fn is_dead(&self) -> bool {
        self.writes_left.load(Ordering::SeqCst) == 0
    }

    fn done(&self) -> Vec<String> {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.clone()
    }
}

struct Dies(Arc<World>);

impl Intercept for Dies {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        let lives = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        let writes = matches!(call, SaverCall::Put(..));
        if writes
            && self
                .0
                .writes_left
                .fetch_update(order, order, lives)
                .is_err()
        {
            return Err(CheckpointError::storage("the process is dead"));
        }
        run.await
    }
}

/// Does something that must not be done twice.
#[tool]
async fn pay(to: String, cx: &ToolContext<'_>) -> Result<String, ToolError> {
    let world = cx.resource::<World>()?;
    if world.is_dead() {
        return Err(ToolError::fatal(NodeError::msg("the process is dead")));
    }
    let mut done = world.done.lock().unwrap_or_else(PoisonError::into_inner);
    done.push(to.clone());
    Ok(format!("{to} is paid"))
}

fn agent(folder: &TempDir) -> CompiledStateGraph<MessagesState> {
    let pay_to = |to: &str| call("p", "pay", json!({"to": to}));
    let edit = json!({"path": "/disk/a.md", "old_string": "a", "new_string": "ab"});
    let leaf = deep_agent(model([
        pay_to("leaf"),
        call(
            "w",
            "write_file",
            json!({"path": "/leaf.md", "content": "leaf"}),
        ),
        call(
            "d",
            "write_file",
            json!({"path": "/disk/a.md", "content": "a"}),
        ),
        call("e", "edit_file", edit),
        says("leaf done"),
    ]));
    let middle = deep_agent(model([
        call(
            "e",
            "edit_file",
            json!({"path": "/top.md", "old_string": "1", "new_string": "2"}),
        ),
        call("l", "task", json!({"agent": "leaf", "description": "Pay!"})),
        pay_to("middle"),
        says("middle done"),
    ]));
    let top = deep_agent(model([
        call(
            "m",
            "task",
            json!({"agent": "middle", "description": "Go on!"}),
        ),
        pay_to("top"),
        says("top done"),
    ]));
    let files = CompositeFiles::new(StateFiles).at("/disk", DiskFiles::new(folder.path()));
    let middle = middle
        .tools((pay,))
        .subagent("leaf", "pays", leaf.tools((pay,)));
    let top = top.tools((pay,)).files(files.unwrap());
    top.subagent("middle", "goes on", middle).compile().unwrap()
}

fn input() -> MessagesStateUpdate {
    let files = StateFiles::update([("/top.md", "1")]);
    MessagesStateUpdate::user("Go!").middleware(files)
}

/// Lets a run die after each number of writes, and go on in another process.
async fn dies_anywhere(saver: impl Fn() -> Arc<dyn Checkpointer>) -> usize {
    for writes in 0.. {
        let folder = TempDir::new().unwrap();
        let world = Arc::new(World::default());
        world.writes_left.store(writes, Ordering::SeqCst);
        let disk = saver();
        let dying = InterceptedSaver::new(Arc::clone(&disk), Dies(Arc::clone(&world)));
        let agent = agent(&folder).resource(Arc::clone(&world));
        let first = agent
            .clone()
            .checkpointer(Arc::new(dying) as Arc<dyn Checkpointer>);
        let ended = first.thread("t").run(input()).await;
        let survived = ended.is_ok();

        world.writes_left.store(usize::MAX, Ordering::SeqCst);
        let agent = agent.checkpointer(disk);
        let thread = agent.thread("t");
        let state = match thread.state().await.unwrap() {
            None => thread.run(input()).await.unwrap().finished(),
            Some(_) if survived => ended.unwrap().finished(),
            Some(_) => thread.proceed().await.unwrap().finished(),
        };
        let state = state.unwrap();
        assert_eq!(world.done(), ["leaf", "middle", "top"], "{writes}");
        let said: Vec<_> = state
            .messages
            .iter()
            .map(|one| one.text().into_owned())
            .collect();
        assert_eq!(
            said,
            ["Go!", "", "middle done", "", "top is paid", "top done"],
            "{writes}"
        );
        let files = FILES.read(&state.middleware).unwrap();
        assert_eq!(
            (&*files["/leaf.md"], &*files["/top.md"]),
            ("leaf", "2"),
            "{writes}"
        );
        let on_disk = std::fs::read_to_string(folder.path().join("a.md")).unwrap();
        assert_eq!(on_disk, "ab", "{writes}");
        if survived {
            return writes;
        }
    }
    0
}

#[tokio::test]
async fn a_run_on_three_levels_dies_anywhere_and_no_tool_is_called_twice_in_memory() {
    let deaths = dies_anywhere(|| Arc::new(MemorySaver::new())).await;
    assert!(deaths > 30, "{deaths}");
}

#[tokio::test]
async fn a_run_on_three_levels_dies_anywhere_and_no_tool_is_called_twice_in_bytes() {
    let deaths = dies_anywhere(|| Arc::new(saver())).await;
    assert!(deaths > 30, "{deaths}");
}
