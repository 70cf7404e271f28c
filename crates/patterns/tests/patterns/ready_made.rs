//! The ready-made agents, alone and inside of another graph.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph::stream::{EventKind, StreamOptions};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Budget, HumanInTheLoop, MessagesState, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn,
    check_answered, react_agent,
};
use langgraph_patterns::{
    PlanAndExecute, PlanStateUpdate, Reflection, ReflectionState, ReflectionStateUpdate, Retrieval,
    RetrievalStateUpdate, Review, ReviewAnswer, Reviewed, ReviewedStateUpdate, Supervisor, Swarm,
    SwarmStateUpdate,
};
use langgraph_store::{HashingEmbedder, MemoryStore, StoreExt as _, StoreOptions, WithStore as _};
use serde_json::json;

/// Counts its calls in a resource of the run.
#[tool]
async fn tick(cx: &ToolContext<'_>) -> Result<u32, ToolError> {
    Ok(cx.resource::<AtomicU32>()?.fetch_add(1, Ordering::Relaxed) + 1)
}

fn call(id: &str, tool: &str, arguments: serde_json::Value) -> ToolCall {
    ToolCall::new(id, tool, arguments)
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect()
}

/// A worker that ticks, with or without a person's approval.
fn ticker(asks: bool) -> CompiledStateGraph<MessagesState> {
    let model = ScriptedModel::new([
        Turn::tool_calls([call("t1", "tick", json!({}))]),
        Turn::text("ticked"),
    ]);
    let agent = react_agent(model, (tick,));
    let agent = if asks {
        agent.with(HumanInTheLoop::new("tick"))
    } else {
        agent
    };
    agent.compile().unwrap()
}

/// Asks before it answers.
#[tool]
async fn sure(cx: &ToolContext<'_>) -> Result<bool, ToolError> {
    Ok(cx.interrupt("sure", "sure?")?)
}

/// A model that requests two calls that finish, and one that asks.
fn three_calls() -> ScriptedModel {
    ScriptedModel::new([
        Turn::tool_calls([
            call("t1", "tick", json!({})),
            call("t2", "sure", json!({})),
            call("t3", "tick", json!({})),
        ]),
        Turn::text("ticked"),
    ])
}

/// Runs up to the question, answers it, and returns how often `tick` ran.
async fn ticks<S: State>(graph: CompiledStateGraph<S>, input: S::Update) -> u32 {
    let ran = Arc::new(AtomicU32::new(0));
    let graph = graph.resource(Arc::clone(&ran));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let outcome = thread.run(input).await.unwrap();
    assert_eq!(outcome.interrupts()[0].key, "sure");
    assert_eq!(ran.load(Ordering::Relaxed), 2);
    thread.answer(true).await.unwrap();
    ran.load(Ordering::Relaxed)
}

#[tokio::test]
async fn k1_a_finished_call_runs_once_in_every_ready_made_agent() {
    let agent = || react_agent(three_calls(), (tick, sure)).compile().unwrap();
    let chat = || MessagesStateUpdate::user("Go!");

    let boss = Supervisor::new(three_calls()).tools((tick, sure));
    let boss = boss.agent("idle", "does nothing", agent());
    assert_eq!(ticks(boss.compile().unwrap(), chat()).await, 2);

    let boss = ScriptedModel::new([
        Turn::tool_calls([call("c1", "hand_off_to_worker", json!({"task": "tick"}))]),
        Turn::text("Done."),
    ]);
    let boss = Supervisor::new(boss).agent("worker", "ticks", agent());
    assert_eq!(ticks(boss.compile().unwrap(), chat()).await, 2);

    let swarm = Swarm::new().agent("peer", "ticks", three_calls(), (tick, sure));
    let input = SwarmStateUpdate::user("Go!");
    assert_eq!(ticks(swarm.compile().unwrap(), input).await, 2);

    let planner = ScriptedModel::new([
        r#"{"steps": ["tick"]}"#,
        r#"{"answer": "ticked", "steps": []}"#,
    ]);
    let plan = PlanAndExecute::new(planner, agent()).compile().unwrap();
    assert_eq!(ticks(plan, PlanStateUpdate::of("Go!")).await, 2);
}

#[tokio::test]
async fn a_supervisor_pauses_for_one_agent_and_keeps_what_the_other_has_done() {
    let boss = ScriptedModel::new([
        Turn::tool_calls([
            call("c1", "hand_off_to_fast", json!({"task": "tick"})),
            call("c2", "hand_off_to_careful", json!({"task": "tick too"})),
            call("c3", "hand_off_to_nobody", json!({"task": "?"})),
        ]),
        Turn::text("All done."),
    ]);
    let team = Supervisor::new(boss.clone())
        .agent("fast", "ticks", ticker(false))
        .agent("careful", "ticks after a question", ticker(true));
    let team = team.compile().unwrap();
    // As a node of another graph.
    let mut outer = StateGraph::<MessagesState>::new();
    outer.add_node("team", team).add_sequence(&["team"]);
    let ticks = Arc::new(AtomicU32::new(0));
    let budget = Arc::new(Budget::per_thread().model_calls(20));
    let outer = outer
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outer = outer
        .resource(Arc::clone(&ticks))
        .resource(Arc::clone(&budget));
    let thread = outer.thread("t");

    let outcome = thread.run(MessagesStateUpdate::user("Go!")).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1, "{outcome:?}");
    assert_eq!(ticks.load(Ordering::Relaxed), 1);
    let state = thread
        .answer(ToolDecision::Approve)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(ticks.load(Ordering::Relaxed), 2, "no agent worked twice");
    assert!(check_answered(&state.messages).is_ok());
    let said = texts(&state.messages);
    assert_eq!(said[2..4], ["ticked", "ticked"]);
    let unknown = "Error: hand_off_to_nobody is not a valid tool, try one of [hand_off_to_fast, hand_off_to_careful].";
    assert_eq!(said[4], unknown);
    assert_eq!(said[5], "All done.");
    // Two of the supervisor, two of each agent.
    assert_eq!(budget.account("t").await.unwrap().spent.model_calls, 6);
}

#[tokio::test]
async fn tokens_of_agents_stream_through_the_outer_run() {
    let boss = ScriptedModel::new([
        Turn::tool_calls([call("c1", "hand_off_to_poet", json!({"task": "rhyme"}))]),
        Turn::chunks(["so ", "it is"]),
    ]);
    let poet = react_agent(ScriptedModel::new([Turn::chunks(["red ", "rose"])]), ());
    let team = Supervisor::new(boss).agent("poet", "rhymes", poet.compile().unwrap());
    let run = team.compile().unwrap().run(MessagesStateUpdate::user("Hi"));
    let mut events = run.stream(StreamOptions::new(StreamMode::Messages).subgraphs());
    let mut pieces = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
            pieces.push(chunk.text);
        }
    }
    pieces.retain(|text| !text.is_empty());
    assert_eq!(pieces, ["red ", "rose", "so ", "it is"]);
}

#[tokio::test]
async fn who_has_a_swarms_conversation_keeps_it_in_the_next_turn() {
    let sales = ScriptedModel::new([Turn::tool_calls([
        call("c1", "hand_over_to_support", json!({})),
        call("c2", "tick", json!({})),
    ])]);
    let support = ScriptedModel::new(["What is broken?", "Is it?"]);
    let swarm = Swarm::new()
        .agent("sales", "sells", sales.clone(), (tick,))
        .agent("support", "repairs", support.clone(), ());
    let swarm = swarm
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let swarm = swarm.resource(Arc::new(AtomicU32::new(0)));
    let thread = swarm.thread("t");
    let state = thread
        .run(SwarmStateUpdate::user("Help!"))
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.active, "support");
    assert!(check_answered(&state.messages).is_ok());
    assert_eq!(state.messages.last().unwrap().text(), "What is broken?");
    let state = thread
        .run(SwarmStateUpdate::user("The lid."))
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.messages.last().unwrap().text(), "Is it?");
    assert_eq!((sales.requests().len(), support.requests().len()), (1, 2));
    // An agent cannot hand over to itself.
    let offered = &support.requests()[0].tools;
    let names: Vec<_> = offered.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["hand_over_to_sales"]);
}

#[tokio::test]
async fn a_step_that_fails_does_not_repeat_the_others() {
    let planner = ScriptedModel::new([
        r#"{"steps": ["one", "two", "three"]}"#,
        r#"{"answer": null, "steps": ["four"]}"#,
        r#"{"answer": "Four things.", "steps": []}"#,
    ]);
    let calls = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&calls);
    let mut work = StateGraph::<MessagesState>::new();
    let node =
        move |state: &MessagesState| {
            let n = seen.fetch_add(1, Ordering::Relaxed);
            let task = state.messages[0].text();
            if task.starts_with("two") && n < 3 {
                return Err(NodeError::msg("no time"));
            }
            let word = task.split('\n').next().unwrap_or_default();
            Ok(MessagesStateUpdate::default()
                .messages(vec![Message::assistant(format!("did {word}"))]))
        };
    work.add_node("work", node).add_sequence(&["work"]);
    let agent = PlanAndExecute::new(planner, work.compile().unwrap())
        .compile()
        .unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let mut events = thread
        .run(PlanStateUpdate::of("Count."))
        .stream(StreamMode::Progress);
    let mut progress = Vec::new();
    let failed = loop {
        match events.next().await.unwrap() {
            Ok(event) => {
                if let EventKind::Progress(map) = event.kind {
                    progress.push((map.done, map.total));
                }
            }
            Err(error) => break error,
        }
    };
    assert!(failed.to_string().contains("no time"), "{failed}");
    assert_eq!(progress.last(), Some(&(2, 3)));
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    let state = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 5, "`two` again, and `four`");
    let done: Vec<_> = state.done.iter().map(|done| done.result.as_str()).collect();
    assert_eq!(done, ["did one", "did two", "did three", "did four"]);
    assert_eq!(
        (state.answer.as_deref(), state.rounds),
        (Some("Four things."), 2)
    );
}

#[tokio::test]
async fn a_plan_without_steps_and_a_planner_that_never_ends_both_end() {
    let none = ScriptedModel::new([
        r#"{"steps": []}"#,
        r#"{"answer": "Nothing to do.", "steps": []}"#,
    ]);
    let worker = || {
        react_agent(ScriptedModel::new(["a", "b", "c"]), ())
            .compile()
            .unwrap()
    };
    let agent = PlanAndExecute::new(none, worker()).compile().unwrap();
    let state = agent.invoke(PlanStateUpdate::of("Rest.")).await.unwrap();
    assert_eq!(state.answer.as_deref(), Some("Nothing to do."));

    let more = r#"{"answer": null, "steps": ["more"]}"#;
    let endless = ScriptedModel::new([r#"{"steps": ["more", "and more"]}"#, more, more]);
    let agent = PlanAndExecute::new(endless, worker())
        .rounds(2)
        .max_steps(1);
    let state = agent
        .compile()
        .unwrap()
        .invoke(PlanStateUpdate::of("Go on."))
        .await
        .unwrap();
    assert_eq!((state.rounds, state.done.len()), (2, 2));
    assert_eq!(state.answer.as_deref(), Some(""));
}

#[tokio::test]
async fn reflection_stops_at_its_limit_and_says_what_is_missing() {
    let writer = ScriptedModel::new(["one", "two"]);
    let bad = r#"{"good": false, "feedback": "longer"}"#;
    let agent = Reflection::new(writer.clone(), ScriptedModel::new([bad, bad])).drafts(2);
    // As a node of another graph over its state.
    let mut outer = StateGraph::<ReflectionState>::new();
    outer
        .add_node("write", agent.compile().unwrap())
        .add_sequence(&["write"]);
    let state = outer
        .compile()
        .unwrap()
        .invoke(ReflectionStateUpdate::user("Write."))
        .await;
    let state = state.unwrap();
    assert_eq!(texts(&state.messages), ["Write.", "two"]);
    assert_eq!((state.drafts, state.feedback.as_str()), (2, "longer"));
    let second = &writer.requests()[1].messages;
    assert!(texts(second)[2].starts_with("longer"), "{second:?}");
}

#[tokio::test]
async fn a_limit_of_0_is_reached_at_once() {
    fn assert_fails<S>(result: Result<S, AgentError>, to: &str) {
        let reached = match result.err() {
            Some(AgentError::BoundReached { to, .. }) => Some(to),
            _ => None,
        };
        assert_eq!(reached.as_deref(), Some(to));
    }
    let model = ScriptedModel::new(Vec::<Turn>::new());
    let agent = Supervisor::new(model.clone())
        .tools((tick,))
        .max_iterations(0);
    let agent = agent.compile().unwrap();
    assert_eq!(agent.bounds().unwrap().calls.model, 0);
    assert_fails(
        agent.invoke(MessagesStateUpdate::user("?")).await,
        "supervisor",
    );
    assert_eq!(model.requests().len(), 0);

    let ticks = || ScriptedModel::new([Turn::tool_calls([call("t1", "tick", json!({}))])]);
    let agent = Supervisor::new(ticks()).tools((tick,)).max_calls(0);
    let agent = agent.compile().unwrap();
    assert_eq!(agent.bounds().unwrap().calls.tool, 0);
    assert_fails(agent.invoke(MessagesStateUpdate::user("?")).await, "tools");

    let swarm = Swarm::new()
        .agent("a", "ticks", ticks(), (tick,))
        .max_iterations(0);
    let swarm = swarm.compile().unwrap();
    assert_fails(swarm.invoke(SwarmStateUpdate::user("?")).await, "a");

    let critic = ScriptedModel::new(Vec::<Turn>::new());
    let agent = Reflection::new(model.clone(), critic)
        .drafts(0)
        .compile()
        .unwrap();
    assert_fails(
        agent.invoke(ReflectionStateUpdate::user("?")).await,
        "write",
    );
    assert_eq!(model.requests().len(), 0);

    let answers = ScriptedModel::new([r#"{"answer": "No plan.", "steps": ["more"]}"#]);
    let agent = PlanAndExecute::new(answers.clone(), ticker(false)).rounds(0);
    let agent = agent.compile().unwrap();
    assert_eq!(agent.bounds().unwrap().runs["plan"], 0);
    let state = agent.invoke(PlanStateUpdate::of("Rest.")).await.unwrap();
    assert_eq!(state.answer.as_deref(), Some("No plan."));
    assert_eq!((state.rounds, answers.requests().len()), (0, 1));
}

#[tokio::test]
async fn an_answer_that_cites_what_is_not_there_goes_back_to_the_model() {
    let options = StoreOptions::default().embedder(HashingEmbedder::new(64));
    let store = MemoryStore::with(options.fields(["text"]));
    store
        .put(["docs"], "a", &json!({"text": "Tea is hot."}))
        .await
        .unwrap();
    let model = ScriptedModel::new(["Tea is hot [2].", "Tea is hot [1]."]);
    let agent = Retrieval::new(model.clone(), ["docs"])
        .compile()
        .unwrap()
        .store(Arc::new(store));
    let state = agent
        .invoke(RetrievalStateUpdate::user("Is tea hot?"))
        .await
        .unwrap();
    assert_eq!(texts(&state.messages), ["Is tea hot?", "Tea is hot [1]."]);
    assert_eq!(
        (state.citations.len(), state.citations[0].key.as_str()),
        (1, "a")
    );
    let repaired = &model.requests()[1].messages;
    assert_eq!(
        repaired.last().unwrap().text(),
        "There is no document [2]. Answer again."
    );
}

#[tokio::test]
async fn k6_a_reviewer_edits_the_answer_that_goes_out() {
    let writer = ScriptedModel::new(["Dear madam, no."]);
    let agent = Reviewed::new(react_agent(writer.clone(), ()).compile().unwrap());
    let agent = agent.compile().unwrap();
    let thread = agent
        .checkpointer(Arc::new(MemorySaver::new()))
        .thread("letter");
    let question = ReviewedStateUpdate::user("Refuse the refund.");
    let outcome = thread.run(question).await.unwrap();
    let review = Review::of(&outcome.interrupts()[0]).unwrap();
    assert_eq!(review.answer, "Dear madam, no.");
    let draft = outcome.state().messages[1].id.clone();

    let edit = ReviewAnswer::edit("Dear madam, we are sorry.");
    let state = thread.answer(edit).await.unwrap().finished().unwrap();
    // It replaces the draft, goes out, and the agent is not called again.
    let expected = ["Refuse the refund.", "Dear madam, we are sorry."];
    assert_eq!(texts(&state.messages), expected);
    assert_eq!(state.messages[1].id, draft);
    assert_eq!((state.released, state.revisions), (true, 0));
    assert_eq!(writer.requests().len(), 1);
}

#[test]
fn a_supervisor_declares_the_tools_of_its_agents() {
    let team = Supervisor::new(ScriptedModel::new(["hi"]))
        .agent("clock", "counts", ticker(true))
        .compile()
        .unwrap();
    let tools = team.topology().tools();
    let tools = tools.iter().map(|tool| (&*tool.name, tool.decisions.len()));
    assert_eq!(
        tools.collect::<Vec<_>>(),
        [("hand_off_to_clock", 0), ("tick", 4)]
    );
}
