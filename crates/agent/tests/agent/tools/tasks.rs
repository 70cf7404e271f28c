//! Each call of a tool node is a task of its own, in every form of the node.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{ToolCall, ToolResult};
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::stream::{EventKind, StreamMode};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    MessagesState, MessagesStateUpdate, ModelNode, ReactState, ReactStateUpdate, ScriptedModel,
    ToolAgent, ToolAgentState, ToolDefinition, ToolOutput, ToolRoute, Turn, WhatNext, act, observe,
    react_agent, think, tools_condition, what_next,
};
use serde_json::{Value, json};

use super::{calls, fanned_out, graph_of};

/// How often each call ran.
type Ran = Arc<Mutex<BTreeMap<String, u32>>>;

fn count(ran: &Ran, call: &str) -> u32 {
    let mut ran = ran.lock().unwrap();
    let count = ran.entry(call.to_owned()).or_default();
    *count += 1;
    *count
}

fn counts(ran: &Ran) -> Vec<(String, u32)> {
    let ran = ran.lock().unwrap();
    ran.iter().map(|(call, n)| (call.clone(), *n)).collect()
}

fn times(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
    let owned = expected.iter().map(|(call, n)| ((*call).to_owned(), *n));
    owned.collect()
}

/// A tool that pays. Calls in `asks` ask first; the call `bad` fails until its third attempt.
struct Pay {
    definition: ToolDefinition,
    ran: Ran,
    asks: &'static [&'static str],
}

#[async_trait]
impl Tool for Pay {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let id = cx.call_id();
        let sure = !self.asks.contains(&id) || cx.interrupt("sure", "pay?")?;
        if count(&self.ran, id) < 3 && id == "bad" {
            return Err(ToolError::fatal(NodeError::msg("the bank is closed")));
        }
        // Every call uses the same key.
        let receipt = || Ok::<_, Infallible>(format!("receipt of {id}"));
        let receipt = cx.once_with("receipt", receipt).await?;
        Ok(ToolOutput::text(format!("{sure}: {receipt}")))
    }
}

fn pay(ran: &Ran, asks: &'static [&'static str]) -> Arc<dyn Tool> {
    Arc::new(Pay {
        definition: ToolDefinition::new("pay", "Pays.", json!({"type": "object"})),
        ran: Arc::clone(ran),
        asks,
    })
}

fn three() -> [ToolCall; 3] {
    ["c1", "c2", "c3"].map(|id| ToolCall::new(id, "pay", json!({})))
}

fn texts(messages: &[Message]) -> Vec<String> {
    let results = messages.iter().filter_map(Message::tool_result);
    results
        .map(|result| result.content.text().into_owned())
        .collect()
}

const PAID: [&str; 3] = [
    "true: receipt of c1",
    "true: receipt of c2",
    "true: receipt of c3",
];

/// Answers the interrupts of `c2` and `c3`, in two runs.
async fn answer_one_by_one<S: State>(graph: &CompiledStateGraph<S>, mut outcome: Outcome<S>) -> S {
    for left in [2, 1] {
        assert_eq!(outcome.interrupts().len(), left);
        let id = outcome.interrupts()[0].id.clone();
        outcome = graph.thread("t").resume(id, true).await.unwrap();
    }
    outcome.finished().unwrap()
}

#[tokio::test]
async fn k1_a_finished_call_runs_once_however_often_others_ask() {
    let model = || ScriptedModel::new([Turn::tool_calls(three()), Turn::text("Done.")]);
    let saver = || Arc::new(MemorySaver::new());
    let question = || MessagesStateUpdate::user("Pay!");

    for form in ["node", "map", "react"] {
        let ran = Ran::default();
        let tool = pay(&ran, &["c2", "c3"]);
        let (graph, input) = match form {
            "node" => (graph_of(ToolNode::new((tool,))), calls(three())),
            "map" => (fanned_out(ToolNode::new((tool,))), calls(three())),
            _ => (react_agent(model(), (tool,)).compile().unwrap(), question()),
        };
        let graph = graph.checkpointer(saver());
        let asked = graph.run(input).thread("t").await;
        assert_eq!(counts(&ran), times(&[("c1", 1)]), "{form}");
        let state = answer_one_by_one(&graph, asked.unwrap()).await;
        assert_eq!(counts(&ran), once_each(), "{form}");
        assert_eq!(texts(&state.messages), PAID, "{form}");
    }

    let ran = Ran::default();
    let agent = ToolAgent::new(model(), (pay(&ran, &["c2", "c3"]),));
    let agent = agent.graph().compile().unwrap().checkpointer(saver());
    let asked = agent.run(ToolAgentState::user("Pay!")).thread("t").await;
    assert_eq!(counts(&ran), times(&[("c1", 1)]));
    let state = answer_one_by_one(&agent, asked.unwrap()).await;
    assert_eq!(counts(&ran), once_each());
    assert_eq!(texts(&state.messages), PAID);
    assert_eq!(state.reply().unwrap().text(), "Done.");
}

/// A chat of a program's own, as in the README.
#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

/// A state whose messages have another name, and no reducer.
#[derive(State, Clone, Debug, Default)]
struct Log {
    lines: Vec<Message>,
}

/// Runs the calls of a graph up to their questions, answers those, and counts.
async fn asks_and_counts<S: State>(graph: CompiledStateGraph<S>, input: S::Update, ran: &Ran) -> S {
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let mut outcome = graph.run(input).thread("t").await.unwrap();
    while let Some(asked) = outcome.interrupts().first() {
        assert_eq!(counts(ran)[0], ("c1".to_owned(), 1));
        let id = asked.id.clone();
        outcome = graph.thread("t").resume(id, true).await.unwrap();
    }
    assert_eq!(counts(ran), once_each());
    outcome.finished().unwrap()
}

#[tokio::test]
async fn k1_a_finished_call_runs_once_in_graphs_of_ones_own_and_in_ready_made_agents() {
    let model = || ScriptedModel::new([Turn::tool_calls(three()), Turn::text("Done.")]);
    let tool = |ran: &Ran| pay(ran, &["c2", "c3"]);

    // The README's form: a state of one's own, and `graph!`.
    let ran = Ran::default();
    let asks = ModelNode::new(model()).tools((tool(&ran),));
    let graph = graph! {
        type State = Chat;

        let think = asks;
        let act = ToolNode::new((tool(&ran),));

        START => think => match |chat: &Chat| tools_condition(chat) {
            ToolRoute::Tools => act => think,
            ToolRoute::End => END,
        };
    };
    let chat = asks_and_counts(
        graph.compile().unwrap(),
        ChatUpdate::default().messages(vec![Message::user("Pay!")]),
        &ran,
    )
    .await;
    assert_eq!(texts(&chat.messages), PAID);

    // `think`, `act`, `observe`.
    let ran = Ran::default();
    let node = ModelNode::new(model()).tools((tool(&ran),));
    let graph = graph! {
        type State = ReactState;

        let think = think(node);
        let act = act((tool(&ran),));

        START => think => act => observe => match what_next {
            WhatNext::Think => think,
            WhatNext::Stop => END,
        };
    };
    let input = ReactStateUpdate::default().messages(vec![Message::user("Pay!")]);
    let state = asks_and_counts(graph.compile().unwrap(), input, &ran).await;
    assert_eq!(texts(&state.messages), PAID);

    // Messages elsewhere, in a field that only one task may write.
    let ran = Ran::default();
    let node = ToolNode::new((tool(&ran),)).on(
        |log: &Log| &log.lines,
        |messages| LogUpdate::default().lines(messages),
    );
    let mut graph = StateGraph::<Log>::new();
    graph.add_node("tools", node).add_sequence(&["tools"]);
    let lines = vec![Message::assistant_with_tool_calls("", three())];
    let input = LogUpdate::default().lines(lines);
    let log = asks_and_counts(graph.compile().unwrap(), input, &ran).await;
    assert_eq!(texts(&log.lines), PAID);
}

fn once_each() -> Vec<(String, u32)> {
    times(&[("c1", 1), ("c2", 1), ("c3", 1)])
}

fn two(first: &str, second: &str) -> MessagesStateUpdate {
    calls([first, second].map(|id| ToolCall::new(id, "pay", json!({}))))
}

#[tokio::test]
async fn k1_a_retry_and_a_resume_run_only_the_call_that_failed() {
    let paid = ["true: receipt of good", "true: receipt of bad"];
    let ran = Ran::default();
    let node = ToolNode::new((pay(&ran, &[]),));
    let retry = RetryPolicy::attempts(3).retry_on(|_| true).immediately();
    let graph = graph! {
        type State = MessagesState;
        let act = node.retry(retry);
        START => act => END;
    };
    let state = graph
        .compile()
        .unwrap()
        .invoke(two("good", "bad"))
        .await
        .unwrap();
    assert_eq!(counts(&ran), times(&[("bad", 3), ("good", 1)]));
    assert_eq!(texts(&state.messages), paid);

    let ran = Ran::default();
    let graph = graph_of(ToolNode::new((pay(&ran, &[]),)));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(two("good", "bad")).await.unwrap_err();
    thread.proceed().await.unwrap_err();
    let state = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(counts(&ran), times(&[("bad", 3), ("good", 1)]));
    assert_eq!(texts(&state.messages), paid);
}

#[tokio::test]
async fn k1_what_follows_the_node_follows_once_after_all_calls() {
    static ROUTED: AtomicU32 = AtomicU32::new(0);
    fn results(state: &MessagesState) -> usize {
        ROUTED.fetch_add(1, Ordering::Relaxed);
        texts(&state.messages).len()
    }
    fn route(state: &MessagesState, cx: &Context) -> Result<&'static str, NodeError> {
        let seen = results(state);
        let say: bool = cx.interrupt("say", &seen)?;
        Ok(if say { "say" } else { END })
    }
    let say = |_: &MessagesState| MessagesStateUpdate::user("paid");
    let ran = Ran::default();
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("tools", ToolNode::new((pay(&ran, &["c2"]),)))
        .add_node("other", |_: &MessagesState| ())
        .add_node("say", say)
        .add_node("both", |_: &MessagesState| {
            MessagesStateUpdate::user("both")
        })
        .add_edge(START, "tools")
        .add_edge(START, "other")
        .add_edge(["tools", "other"], "both")
        .add_conditional_edges("tools", route, ["say", END]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");

    let outcome = thread.run(calls(three())).await.unwrap();
    assert_eq!(ROUTED.load(Ordering::Relaxed), 0);
    assert_eq!(outcome.interrupts()[0].key, "sure");
    let outcome = thread.answer(true).await.unwrap();
    // The router sees every answer, and asks once.
    assert_eq!(outcome.interrupts().len(), 1, "{outcome:?}");
    assert_eq!(
        (
            &*outcome.interrupts()[0].key,
            &outcome.interrupts()[0].payload
        ),
        ("say", &json!(3))
    );
    let outcome = thread.answer(true).await.unwrap();
    assert_eq!(ROUTED.load(Ordering::Relaxed), 2);
    assert_eq!(counts(&ran), once_each());
    assert!(outcome.unfilled_joins().is_empty());
    let state = outcome.finished().unwrap();
    assert_eq!(texts(&state.messages), PAID);
    let said: Vec<_> = state.messages[5..].iter().map(Message::text).collect();
    assert_eq!(said, ["paid", "both"]);
}

#[tokio::test]
async fn k1_a_router_that_fails_after_the_calls_does_not_repeat_them() {
    static ROUTED: AtomicU32 = AtomicU32::new(0);
    fn route(_: &MessagesState) -> Result<&'static str, NodeError> {
        match ROUTED.fetch_add(1, Ordering::Relaxed) {
            0 => Err(NodeError::msg("which way?")),
            _ => Ok(END),
        }
    }
    let ran = Ran::default();
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("tools", ToolNode::new((pay(&ran, &[]),)))
        .add_edge(START, "tools")
        .add_conditional_edges("tools", route, [END]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let error = thread.run(calls(three())).await.unwrap_err().to_string();
    assert_eq!(error, "node `tools` failed: which way?");
    let state = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(counts(&ran), once_each());
    assert_eq!(texts(&state.messages), PAID);
}

#[tokio::test]
async fn k1_calls_that_a_person_changes_before_they_run_are_the_ones_that_run() {
    let ran = Ran::default();
    let graph = graph_of(ToolNode::new((pay(&ran, &[]),)));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread
        .run(calls(three()))
        .interrupt_before(["tools"])
        .await
        .unwrap();
    let asking = thread.state().await.unwrap().unwrap().values.messages[1].clone();
    // One call is taken back, and one is answered by hand.
    let changed = Message::assistant_with_tool_calls("", three().into_iter().skip(1));
    let changed = changed.replacing(&asking);
    let by_hand = ToolResult::new("c3", "by hand").into();
    let update = MessagesStateUpdate::default().messages(vec![changed, by_hand]);
    thread.update(update).await.unwrap();
    let state = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(counts(&ran), times(&[("c2", 1)]));
    assert_eq!(texts(&state.messages), ["by hand", "true: receipt of c2"]);
}

#[tokio::test]
async fn k1_each_call_is_shown_as_a_task_and_a_fork_runs_them_again() {
    let ran = Ran::default();
    let graph = graph_of(ToolNode::new((pay(&ran, &[]),)));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let mut events = graph
        .run(calls(three()))
        .thread("t")
        .stream(StreamMode::Tasks);
    let mut started = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::TaskStarted(task) = &event.unwrap().kind {
            started.push(task.node.to_string());
        }
    }
    assert_eq!(started, ["tools"; 3]);

    let history = graph.thread("t").history().await.unwrap();
    let before = history.iter().find(|at| at.next.len() == 3).unwrap();
    let fork = graph.thread("t").at(before.id).proceed().await.unwrap();
    assert_eq!(texts(&fork.finished().unwrap().messages), PAID);
    assert_eq!(counts(&ran), times(&[("c1", 2), ("c2", 2), ("c3", 2)]));
}
