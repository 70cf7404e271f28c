//! Requests to models in replays of stored threads.

use std::path::Path;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    FnTool, MessagesState, MessagesStateUpdate, ModelNode, ScriptedModel, Turn, react_agent,
};
use langgraph_testing::{Cassette, ReplayReport, replay};
use serde_json::json;

/// Doubles a number.
#[tool]
async fn double(n: i64) -> i64 {
    n * 2
}

struct Desk {
    prompt: &'static str,
    tool: FnTool,
    model: &'static str,
}

fn same() -> Desk {
    Desk {
        prompt: "Be kind.",
        tool: FnTool::new("refund", "Pays back.", || async { "paid" }),
        model: "large",
    }
}

impl Desk {
    fn graph(self, model: impl ChatModel + 'static) -> CompiledStateGraph<MessagesState> {
        let agent = react_agent(model, (double, self.tool));
        agent.prompt(self.prompt).compile().unwrap()
    }
}

async fn store(file: &Path) -> Arc<MemorySaver> {
    let desk = same();
    let model = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c1", "double", json!({"n": 4}))]),
        Turn::text("It is 8."),
        Turn::text("Bye."),
    ]);
    let saver = Arc::new(MemorySaver::new());
    let model = Cassette::record(file, model.named(desk.model)).unwrap();
    let graph = desk.graph(model).checkpointer(saver.clone());
    for text in ["4 + 4?", "Thanks."] {
        let run = graph.thread("t").run(MessagesStateUpdate::user(text));
        run.await.unwrap();
    }
    saver
}

async fn replayed(saver: &Arc<MemorySaver>, file: &Path, desk: Desk) -> ReplayReport {
    let model = ScriptedModel::new(Vec::<Turn>::new()).named(desk.model);
    let graph = desk.graph(model);
    let replay = replay(saver.clone(), &graph).recorded(Cassette::replay(file).unwrap());
    replay.await.unwrap()
}

#[tokio::test]
async fn k8_a_changed_request_diverges_from_the_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("requests.json");
    let saver = store(&file).await;

    let report = replayed(&saver, &file, same()).await;
    assert!(report.is_same(), "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");

    let brief = Desk {
        prompt: "Be brief.",
        ..same()
    };
    let described = Desk {
        tool: FnTool::new("refund", "Pays back money.", || async { "paid" }),
        ..same()
    };
    let small = Desk {
        model: "small",
        ..same()
    };
    for (changed, field, then, now) in [
        (brief, "request.messages[0]", "Be kind.", "Be brief."),
        (
            described,
            "request.tools[1]",
            "Pays back.",
            "Pays back money.",
        ),
        (small, "model", "large", "small"),
    ] {
        let report = replayed(&saver, &file, changed).await;
        let (_, found) = report.diverged().next().unwrap();
        assert_eq!(
            (found.superstep, &*found.node, &*found.field),
            (1, "agent", field)
        );
        assert!(found.expected.to_string().contains(then), "{report}");
        assert!(found.got.to_string().contains(now), "{report}");
    }
}

#[tokio::test]
async fn k8_a_request_that_was_not_recorded_is_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("requests.json");
    let saver = store(&file).await;
    std::fs::write(&file, "[]").unwrap();
    let report = replayed(&saver, &file, same()).await;
    assert!(report.diverged().next().is_none(), "{report}");
    // Three answers of the model, none of them recorded.
    assert_eq!(report.threads[0].unchecked.len(), 3, "{report}");
    assert!(
        report.to_string().contains("not in the cassette"),
        "{report}"
    );
}

#[tokio::test]
async fn k8_the_tools_of_a_bound_model_are_a_part_of_its_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bound.json");
    let graph = |model: Cassette| {
        let mut graph = StateGraph::<MessagesState>::new();
        graph.add_node("chat", ModelNode::new(model.bind_tools((double,))));
        graph.add_sequence(&["chat"]);
        graph.compile().unwrap()
    };
    let saver = Arc::new(MemorySaver::new());
    let recorded = Cassette::record(&file, ScriptedModel::new(["Hello."])).unwrap();
    let stored = graph(recorded).checkpointer(saver.clone());
    let run = stored.thread("t").run(MessagesStateUpdate::user("Hi."));
    run.await.unwrap();

    let replayed = || Cassette::replay(&file).unwrap();
    let report = replay(saver, &graph(replayed())).recorded(replayed());
    let report = report.await.unwrap();
    assert!(report.is_same(), "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");
}
