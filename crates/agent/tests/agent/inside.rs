//! Ready-made agents as nodes: they live inside the outer run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph::stream::{EventKind, StreamMode};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Budget, ScriptedModel, SimpleAgent, SimpleAgentState, ToolAgent, ToolAgentState, ToolDecision,
    Turn,
};
use serde_json::json;

/// Counts its calls in a resource of the run.
#[tool]
async fn tick(cx: &ToolContext<'_>) -> Result<u32, ToolError> {
    Ok(cx.resource::<AtomicU32>()?.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Asks before it answers.
#[tool]
async fn sure(cx: &ToolContext<'_>) -> Result<bool, ToolError> {
    Ok(cx.interrupt("sure", "sure?")?)
}

fn outer(agent: impl Agent<State = ToolAgentState>) -> CompiledStateGraph<ToolAgentState> {
    let mut graph = StateGraph::<ToolAgentState>::new();
    graph.add_node("helper", agent).add_sequence(&["helper"]);
    graph.compile().unwrap()
}

fn calls() -> Turn {
    let call = |id: &str, tool: &str| ToolCall::new(id, tool, json!({}));
    Turn::tool_calls([call("c1", "tick"), call("c2", "sure"), call("c3", "tick")])
}

#[tokio::test]
async fn k6_pauses_checkpoints_and_resources_pass_through() {
    let model = ScriptedModel::new([calls(), Turn::text("Done.")]);
    let agent = ToolAgent::new(model.clone(), (tick, sure)).approve("sure");
    // Shared agents as well.
    let graph = outer(Arc::new(agent)).checkpointer(Arc::new(MemorySaver::new()));
    let ticks = Arc::new(AtomicU32::new(0));
    let budget = Arc::new(Budget::per_thread().model_calls(5));
    let graph = graph
        .resource(Arc::clone(&ticks))
        .resource(Arc::clone(&budget));
    let thread = graph.thread("t");

    let outcome = thread.run(ToolAgentState::user("Go!")).await.unwrap();
    let [approval] = outcome.interrupts() else {
        panic!("{outcome:?}")
    };
    assert_eq!((&*approval.key, &*approval.namespace[0]), ("c2", "helper"));
    let outcome = thread.answer(ToolDecision::Approve).await.unwrap();
    assert_eq!(outcome.interrupts()[0].key, "sure");
    let state = thread.answer(true).await.unwrap().finished().unwrap();

    assert_eq!(state.reply().unwrap().text(), "Done.");
    assert_eq!(ticks.load(Ordering::Relaxed), 2, "finished calls ran once");
    assert_eq!(model.requests().len(), 2, "the model was not asked again");
    assert_eq!(budget.account("t").await.unwrap().spent.model_calls, 2);
}

#[tokio::test]
async fn k6_tokens_of_an_agent_inside_stream() {
    let agent = SimpleAgent::new(ScriptedModel::new([Turn::chunks(["He", "llo"])]));
    let mut graph = StateGraph::<SimpleAgentState>::new();
    graph.add_node("helper", agent).add_sequence(&["helper"]);
    let run = graph.compile().unwrap().run(SimpleAgentState::user("Hi"));
    let mut events =
        run.stream(langgraph::stream::StreamOptions::new(StreamMode::Messages).subgraphs());
    let mut pieces = Vec::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        if let EventKind::MessageChunk { chunk, .. } = event.kind {
            pieces.push((event.namespace.join("/"), chunk.text.clone()));
        }
    }
    pieces.retain(|(_, text)| !text.is_empty());
    let expected = [("helper", "He"), ("helper", "llo")];
    assert_eq!(
        pieces,
        expected.map(|(at, text)| (at.to_owned(), text.to_owned()))
    );
}

#[tokio::test]
async fn k6_outside_of_a_graph_an_agent_still_runs_alone() {
    let agent = ToolAgent::new(ScriptedModel::new(["Hi!"]), (tick,));
    let state = agent.run(ToolAgentState::user("Hi")).await.unwrap();
    assert_eq!(state.reply().unwrap().text(), "Hi!");
}
