//! What ready-made agents make of the chats of their agents.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{ToolCall, open_tool_calls};
use langgraph::prelude::*;
use langgraph::run::Persistence;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentContext, AgentUpdate, FnTool, MessagesStateUpdate, MiddlewareField, ScriptedModel, Turn,
    react_agent,
};
use langgraph_patterns::{
    PlanAndExecute, PlanStateUpdate, Review, ReviewAnswer, Reviewed, ReviewedState,
    ReviewedStateUpdate, Supervisor, Swarm, SwarmStateUpdate,
};
use serde_json::json;
use tokio::sync::Notify;

fn texts(messages: &[Message]) -> Vec<String> {
    let texts = messages.iter().map(|message| message.text().into_owned());
    texts.collect()
}

/// An agent whose answer is that of its tools.
fn pricer() -> CompiledStateGraph<langgraph_agent::MessagesState> {
    let tool = |name, answer: &'static str| {
        FnTool::new(name, "Gives a price.", move || async move { answer }).return_directly()
    };
    let calls = ["net", "gross"].map(|name| ToolCall::new(name, name, json!({})));
    let model = ScriptedModel::new([Turn::tool_calls(calls)]);
    let agent = react_agent(model, (tool("net", "100"), tool("gross", "119")));
    agent.compile().unwrap()
}

#[tokio::test]
async fn an_agent_whose_tools_answer_directly_hands_over_their_answers() {
    let call = ToolCall::new("c1", "hand_off_to_pricer", json!({"task": "How much?"}));
    let boss = ScriptedModel::new([Turn::tool_calls([call]), Turn::text("100 or 119.")]);
    let team = Supervisor::new(boss).agent("pricer", "knows prices", pricer());
    let team = team.compile().unwrap();
    let state = team
        .invoke(MessagesStateUpdate::user("Price?"))
        .await
        .unwrap();
    assert_eq!(
        texts(&state.messages),
        ["Price?", "", "100\n119", "100 or 119."]
    );

    let planner = [r#"{"steps": ["ask"]}"#, r#"{"answer": "119", "steps": []}"#];
    let plan = PlanAndExecute::new(ScriptedModel::new(planner), pricer());
    let plan = plan.compile().unwrap();
    let state = plan.invoke(PlanStateUpdate::of("Price?")).await.unwrap();
    assert_eq!(state.done[0].result, "100\n119");
}

/// Replaces the chat but for its last message by a summary.
struct Shorten;

#[middleware]
impl AgentMiddleware for Shorten {
    async fn before_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let [_, _, .., last] = cx.messages() else {
            return Ok(AgentUpdate::default());
        };
        let summary = Message::user("summary");
        Ok(AgentUpdate::messages([
            Message::remove_all(),
            summary,
            last.clone(),
        ]))
    }
}

fn reviewed() -> CompiledStateGraph<ReviewedState> {
    let agent = react_agent(ScriptedModel::new(["one", "two", "three"]), ());
    let agent = Reviewed::new(agent.with(Shorten).compile().unwrap());
    let agent = agent.compile().unwrap();
    agent.checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn a_reviewed_agent_keeps_the_chat_that_its_middleware_has_shortened() {
    let thread = reviewed().thread("t");
    thread
        .run(ReviewedStateUpdate::user("first"))
        .await
        .unwrap();
    let outcome = thread.answer(ReviewAnswer::revise("again")).await.unwrap();
    assert_eq!(
        texts(&outcome.state().messages),
        ["summary", "again", "two"]
    );
    thread.answer(ReviewAnswer::Approve).await.unwrap();
    let outcome = thread
        .run(ReviewedStateUpdate::user("second"))
        .await
        .unwrap();
    assert_eq!(
        texts(&outcome.state().messages),
        ["summary", "second", "three"]
    );
}

#[tokio::test]
async fn the_stream_of_a_reviewed_agent_has_only_what_is_new() {
    let thread = reviewed().thread("t");
    let mut shown = Vec::new();
    for input in ["first", "second"] {
        let run = thread.run(ReviewedStateUpdate::user(input));
        let mut events = run.stream(StreamMode::Messages);
        while let Some(event) = events.next().await {
            if let EventKind::Message { message, .. } = event.unwrap().kind {
                shown.push(message.text().into_owned());
            }
        }
        thread.answer(ReviewAnswer::Approve).await.unwrap();
    }
    assert_eq!(shown, ["one", "summary", "two"]);
}

#[tokio::test]
async fn a_reviewer_reads_and_edits_the_answer_of_a_tool_that_answers_directly() {
    let agent = Reviewed::new(pricer()).compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let outcome = thread.run(ReviewedStateUpdate::user("Price?")).await;
    let review = Review::of(&outcome.unwrap().interrupts()[0]).unwrap();
    assert_eq!(review.answer, "100\n119");
    let state = thread.answer(ReviewAnswer::edit("119, all in.")).await;
    let state = state.unwrap().finished().unwrap();
    assert_eq!(results(&state.messages), ["100", "119"]);
    assert_eq!(state.messages.last().unwrap().text(), "119, all in.");
}

const CALLS: MiddlewareField<u64> = MiddlewareField::new("calls");

/// Counts how often an agent begins on a thread.
struct Counts;

#[middleware]
impl AgentMiddleware for Counts {
    fn fields(&self) -> Vec<&'static str> {
        vec![CALLS.name()]
    }

    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        cx.fields().add(CALLS, 1)?;
        Ok(AgentUpdate::default())
    }
}

#[tokio::test]
async fn a_reviewed_agent_keeps_the_fields_of_its_middleware() {
    let agent = react_agent(ScriptedModel::new(["one", "two", "three"]), ());
    let agent = Reviewed::new(agent.with(Counts).compile().unwrap());
    let agent = agent.compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let said = |text: &str| thread.run(ReviewedStateUpdate::user(text));
    said("first").await.unwrap();
    thread.answer(ReviewAnswer::revise("again")).await.unwrap();
    thread.answer(ReviewAnswer::Approve).await.unwrap();
    let outcome = said("second").await.unwrap();
    assert_eq!(CALLS.read(&outcome.state().middleware).unwrap(), 3);
}

/// Runs the agent until it reaches its bound, and then again with another input.
async fn reaches_its_bound_and_answers<S: State + std::fmt::Debug>(
    agent: CompiledStateGraph<S>,
    input: fn(&'static str) -> S::Update,
) -> S {
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let error = thread.run(input("Go!")).await.unwrap_err();
    assert!(error.to_string().contains("which is its bound"), "{error}");
    thread
        .run(input("Stop."))
        .await
        .unwrap()
        .finished()
        .unwrap()
}

#[tokio::test]
async fn an_agent_that_reached_its_bound_answers_the_next_input() {
    let asks = |id| Turn::tool_calls([ToolCall::new(id, "work", json!({}))]);
    let model = || ScriptedModel::new([asks("c1"), asks("c2"), Turn::text("Stopped.")]);
    let work = || FnTool::new("work", "Works.", || async { "done" });
    let chat = ["Go!", "", "done", "", "done", "Stop.", "Stopped."];

    let react = react_agent(model(), (work(),)).max_iterations(2).compile();
    let user = |text| MessagesStateUpdate::user(text);
    let state = reaches_its_bound_and_answers(react.unwrap(), user).await;
    assert_eq!(texts(&state.messages), chat);

    let boss = Supervisor::new(model()).tools((work(),)).max_iterations(2);
    let state = reaches_its_bound_and_answers(boss.compile().unwrap(), user).await;
    assert_eq!(texts(&state.messages), chat);

    let swarm = Swarm::new().agent("worker", "works", model(), (work(),));
    let swarm = swarm.max_iterations(2).compile().unwrap();
    let user = |text| SwarmStateUpdate::user(text);
    let state = reaches_its_bound_and_answers(swarm, user).await;
    assert_eq!(texts(&state.messages), chat);
}

/// A tool whose answer is that of the agent, and one whose answer is not.
fn prices() -> (FnTool, FnTool) {
    let net = FnTool::new("net", "A price.", || async { "100" }).return_directly();
    (net, FnTool::new("rate", "A rate.", || async { "19 %" }))
}

fn calls(names: &[&str]) -> Turn {
    Turn::tool_calls(
        names
            .iter()
            .map(|name| ToolCall::new(*name, *name, json!({}))),
    )
}

#[tokio::test]
async fn a_supervisor_and_a_swarm_end_with_the_answer_of_a_tool_that_answers_directly() {
    let model = ScriptedModel::new([calls(&["net"])]);
    let boss = Supervisor::new(model).tools(prices()).compile().unwrap();
    let price = || MessagesStateUpdate::user("Price?");
    let state = boss.invoke(price()).await.unwrap();
    assert_eq!(texts(&state.messages), ["Price?", "", "100"]);

    let swarm = |turns: Vec<Turn>| {
        let sales = Swarm::new().agent("sales", "sells", ScriptedModel::new(turns), prices());
        let support = ScriptedModel::new(["It is broken."]);
        let both = sales.agent("support", "repairs", support, ());
        both.compile().unwrap()
    };
    let asked = || SwarmStateUpdate::user("Price?");
    let state = swarm(vec![calls(&["net"])]).invoke(asked()).await.unwrap();
    assert_eq!(texts(&state.messages), ["Price?", "", "100"]);

    // One who takes over speaks.
    let turns = vec![calls(&["net", "hand_over_to_support"])];
    let state = swarm(turns).invoke(asked()).await.unwrap();
    assert_eq!(state.messages.last().unwrap().text(), "It is broken.");
}

#[tokio::test]
async fn a_supervisor_reads_what_an_agent_says_beside_a_tool_that_answers_directly() {
    let poet = react_agent(ScriptedModel::new(["Roses."]), ());
    let both = [
        ToolCall::new("net", "net", json!({})),
        ToolCall::new("poet", "hand_off_to_poet", json!({"task": "a rhyme"})),
    ];
    let model = ScriptedModel::new([Turn::tool_calls(both), Turn::text("100, and roses.")]);
    let boss = Supervisor::new(model).tools(prices());
    let boss = boss.agent("poet", "writes rhymes", poet.compile().unwrap());
    let input = MessagesStateUpdate::user("Both!");
    let state = boss.compile().unwrap().invoke(input).await.unwrap();
    let all = ["Both!", "", "100", "Roses.", "100, and roses."];
    assert_eq!(texts(&state.messages), all);
}

/// Returns the results of tools in a chat, each of whose calls has one.
fn results(messages: &[Message]) -> Vec<String> {
    assert!(open_tool_calls(messages).is_empty());
    let results = messages.iter().filter(|message| message.is_tool());
    results.map(|result| result.text().into_owned()).collect()
}

/// A tool that never ends, and what it notifies when it has begun.
fn endless() -> (FnTool, Arc<Notify>) {
    let begun = Arc::new(Notify::new());
    let begins = Arc::clone(&begun);
    let tool = FnTool::new("endless", "Never ends.", move || {
        begins.notify_one();
        std::future::pending::<()>()
    });
    (tool, begun)
}

/// Stops a run on the thread when the endless tool has begun, and returns the state after the next run.
async fn after_a_stop<S: State>(
    thread: &Thread<S>,
    begun: &Notify,
    input: impl Fn() -> S::Update,
) -> S {
    tokio::select! {
        ended = thread.run(input()) => assert!(ended.is_err(), "it never ends"),
        () = begun.notified() => {}
    }
    thread.run(input()).await.unwrap().finished().unwrap()
}

const CLOSED: &str = "not answered: the user wrote something else first";

#[tokio::test]
async fn a_supervisor_goes_on_behind_an_agent_that_has_failed() {
    let agent = |model| react_agent(model, ()).compile().unwrap();
    let poet = agent(ScriptedModel::new(["Roses are red."]));
    // Its model has nothing to say.
    let clerk = agent(ScriptedModel::new([""; 0]));
    let calls = ["poet", "clerk"].map(|name| {
        ToolCall::new(
            name,
            format!("hand_off_to_{name}"),
            json!({"task": "a rhyme"}),
        )
    });
    let boss = ScriptedModel::new([Turn::tool_calls(calls), Turn::text("Roses are red.")]);
    let team = Supervisor::new(boss)
        .agent("poet", "writes", poet)
        .agent("clerk", "files", clerk);
    let team = team.compile().unwrap();
    let thread = team.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let question = || MessagesStateUpdate::user("A rhyme?");
    thread.run(question()).await.unwrap_err();
    let state = thread.run(question()).await.unwrap().finished().unwrap();
    assert_eq!(results(&state.messages), ["Roses are red.", CLOSED]);
}

#[tokio::test]
async fn a_swarm_goes_on_behind_a_run_that_was_stopped() {
    let (endless, begun) = endless();
    let sales = ScriptedModel::new([calls(&["endless"]), Turn::text("Teapots.")]);
    let swarm = Swarm::new().agent("sales", "sells", sales, (endless,));
    let swarm = swarm.compile().unwrap();
    let thread = swarm.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let question = || SwarmStateUpdate::user("What do you sell?");
    let state = after_a_stop(&thread, &begun, question).await;
    assert_eq!(results(&state.messages), [CLOSED]);
}

#[tokio::test]
async fn an_agent_that_keeps_its_chat_goes_on_behind_a_task_that_was_stopped() {
    let (endless, begun) = endless();
    let files = ScriptedModel::new([calls(&["endless"]), Turn::text("Filed.")]);
    let clerk = react_agent(files.clone(), (endless,)).compile().unwrap();
    let clerk = clerk.persistence(Persistence::PerThread("clerk".into()));
    let hands_off = |id: &str| {
        let call = ToolCall::new(id, "hand_off_to_clerk", json!({"task": "File it."}));
        Turn::tool_calls([call])
    };
    let boss = ScriptedModel::new([hands_off("b1"), hands_off("b2"), Turn::text("Done.")]);
    let team = Supervisor::new(boss).agent("clerk", "files", clerk);
    let team = team.compile().unwrap();
    let thread = team.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let question = || MessagesStateUpdate::user("File it.");
    let state = after_a_stop(&thread, &begun, question).await;
    assert_eq!(results(&state.messages), [CLOSED, "Filed."]);
    assert_eq!(results(&files.requests()[1].messages), [CLOSED]);
}
