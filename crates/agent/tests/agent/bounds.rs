//! What a run of an agent does at worst, without limits of middleware.

use langgraph::error::AgentError;
use langgraph::graph::{Calls, CompiledStateGraph, UnboundedReason};
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentContext, AgentGoto, AgentUpdate, ChatResponse, Hook, MessagesState, MessagesStateUpdate,
    ModelCall, ModelRetry, NextModel, ReactAgent, ScriptedModel, ToolAgent, ToolDefinition,
    ToolOutput, ToolRetry, Turn, react_agent,
};
use serde_json::json;

use super::support::{asks_the_time, call, clock};

/// A model that never stops asking for the time.
fn restless(answers: usize) -> ScriptedModel {
    ScriptedModel::new((0..answers).map(|n| asks_the_time(&format!("c{n}"))))
}

/// Returns the source and the target of the edge whose bound a run reached.
async fn failed_at(agent: &CompiledStateGraph<MessagesState>) -> (String, String) {
    let run = agent.run(MessagesStateUpdate::user("time?")).limit(10_000);
    let error = run.await.unwrap_err();
    let AgentError::BoundReached { from, to, .. } = &error else {
        return (error.to_string(), String::new());
    };
    (from.to_string(), to.to_string())
}

#[test]
fn an_agent_has_bounds_that_the_default_step_limit_reaches_first() {
    let agent = react_agent(restless(1), (clock(),)).compile().unwrap();
    let bounds = agent.bounds().unwrap();
    assert_eq!((bounds.runs["agent"], bounds.runs["tools"]), (500, 10_000));
    assert_eq!((bounds.calls.model, bounds.calls.tool), (500, 10_000));
    // The tools of the last answer run too.
    assert_eq!(bounds.supersteps, 1000);

    let alone = react_agent(restless(1), ()).compile().unwrap();
    assert_eq!(alone.bounds().unwrap().supersteps, 1);
}

#[tokio::test]
async fn the_default_step_limit_ends_an_agent_with_an_answer_before_its_bound_fails_it() {
    let model = restless(501);
    let agent = react_agent(model.clone(), (clock(),)).compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("time?")).await;
    let state = state.unwrap();
    let last = state.messages.last().unwrap().text();
    assert_eq!(last, "Sorry, need more steps to process this request.");
    assert_eq!(model.requests().len(), 500);
}

#[tokio::test]
async fn a_run_meets_the_iterations_of_an_agent_and_fails_beyond_them() {
    for iterations in [1, 2, 5] {
        let model = restless(9);
        let agent = react_agent(model.clone(), (clock(),)).max_iterations(iterations);
        let agent = agent.compile().unwrap();
        let bounds = agent.bounds().unwrap();
        assert_eq!(bounds.calls.model, u64::from(iterations));
        assert_eq!(bounds.supersteps, u64::from(2 * iterations));
        assert_eq!(failed_at(&agent).await, ("tools".into(), "agent".into()));
        assert_eq!(model.requests().len(), iterations as usize);
    }
}

#[tokio::test]
async fn a_limit_of_0_is_reached_at_once() {
    let none = |agent: ReactAgent| agent.max_iterations(0).compile().unwrap();
    let model = restless(9);
    let agent = none(react_agent(model.clone(), (clock(),)));
    assert_eq!(agent.bounds().unwrap().calls.model, 0);
    assert_eq!(failed_at(&agent).await, (START.into(), "agent".into()));
    // A hook before the agent runs, and may jump.
    let agent = none(react_agent(model.clone(), (clock(),)).with(Start(&[])));
    let hook = "Start.before_agent".to_owned();
    assert_eq!(failed_at(&agent).await, (hook.clone(), "agent".into()));
    let jumps = Start(&[AgentGoto::Model]);
    let agent = none(react_agent(model.clone(), (clock(),)).with(jumps));
    assert_eq!(agent.bounds().unwrap().calls.model, 0);
    assert_eq!(failed_at(&agent).await, (hook, "agent".into()));
    assert_eq!(model.requests().len(), 0);

    let agent = react_agent(model.clone(), (clock(),)).max_tool_calls(0);
    let agent = agent.compile().unwrap();
    assert_eq!(agent.bounds().unwrap().calls.tool, 0);
    assert_eq!(failed_at(&agent).await, ("agent".into(), "tools".into()));
    assert_eq!(model.requests().len(), 1);
}

/// Begins the agent, maybe with a jump.
struct Start(&'static [AgentGoto]);

#[middleware]
impl AgentMiddleware for Start {
    fn gotos(&self) -> &'static [AgentGoto] {
        self.0
    }

    async fn before_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let update = AgentUpdate::default();
        Ok(match self.0 {
            [goto, ..] => update.and_goto(*goto),
            [] => update,
        })
    }
}

#[tokio::test]
async fn a_run_fails_that_makes_more_calls_of_tools_than_its_limit() {
    let twice = |n| {
        Turn::tool_calls([0, 1].map(|m| call(&format!("c{n}.{m}"), "get_current_time", json!({}))))
    };
    let model = ScriptedModel::new((0..3).map(twice));
    let agent = react_agent(model.clone(), (clock(),)).max_tool_calls(4);
    let agent = agent.compile().unwrap();
    assert_eq!(agent.bounds().unwrap().calls.tool, 4);
    assert_eq!(failed_at(&agent).await, ("agent".into(), "tools".into()));
    assert_eq!(model.requests().len(), 3);
}

/// Sends the agent back to its model, or to its tools, after each answer.
struct Back(&'static [AgentGoto]);

#[middleware]
impl AgentMiddleware for Back {
    fn gotos(&self) -> &'static [AgentGoto] {
        self.0
    }

    async fn after_model(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let again = Message::user("Again, please.");
        Ok(AgentUpdate::messages([again]).and_goto(AgentGoto::Model))
    }

    async fn after_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        Ok(AgentUpdate::default())
    }
}

#[tokio::test]
async fn a_hook_that_sends_an_agent_back_has_a_bound_too() {
    let model = ScriptedModel::new(["hi"; 9]);
    let back = Back(&[AgentGoto::Model]);
    let agent = react_agent(model.clone(), ()).with(back).max_iterations(4);
    let agent = agent.compile().unwrap();
    assert!(agent.bounds().unwrap().calls.model >= 4);
    assert_eq!(
        failed_at(&agent).await,
        ("Back.after_model".into(), "agent".into())
    );
    assert_eq!(model.requests().len(), 4);

    let anywhere = Back(&[AgentGoto::Model, AgentGoto::Tools, AgentGoto::End]);
    let agent = react_agent(restless(1), (clock(),)).with(anywhere);
    agent.compile().unwrap().bounds().unwrap();
}

#[tokio::test]
async fn calls_that_middleware_repeats_count() {
    let retries = (ModelRetry::attempts(3), ToolRetry::attempts(2));
    let agent = react_agent(restless(1), (clock(),)).with(retries);
    let agent = agent.max_iterations(10).max_tool_calls(20);
    let bounds = agent.compile().unwrap().bounds().unwrap();
    assert_eq!((bounds.calls.model, bounds.calls.tool), (30, 40));
}

/// Asks two models before the agent, and one around each of its calls.
struct Asks;

#[middleware]
impl AgentMiddleware for Asks {
    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        match hook {
            Hook::BeforeAgent => Calls { model: 2, tool: 0 },
            Hook::AroundModel => inner.and(Calls { model: 1, tool: 0 }),
            _ => inner,
        }
    }

    async fn before_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        Ok(AgentUpdate::default())
    }

    async fn around_model(
        &self,
        call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        next.run(call).await
    }
}

#[test]
fn calls_that_middleware_adds_count_inside_of_those_that_it_repeats() {
    let calls = |agent: langgraph_agent::ReactAgent| {
        let agent = agent.max_iterations(10).compile().unwrap();
        agent.bounds().unwrap().calls.model
    };
    let retry = || ModelRetry::attempts(3);
    let agent = || react_agent(restless(1), (clock(),));
    assert_eq!(calls(agent().with((retry(), Asks))), 2 + 10 * 6);
    assert_eq!(calls(agent().with((Asks, retry()))), 2 + 10 * 4);
}

/// A tool that runs a graph.
struct Inner(CompiledStateGraph<MessagesState>, ToolDefinition);

#[async_trait]
impl Tool for Inner {
    fn definition(&self) -> &ToolDefinition {
        &self.1
    }

    fn inner_calls(&self) -> Calls {
        self.0.topology().calls_at_worst()
    }

    async fn call(
        &self,
        _: serde_json::Value,
        _: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("done"))
    }
}

fn inner(graph: CompiledStateGraph<MessagesState>) -> Inner {
    Inner(
        graph,
        ToolDefinition::new("inner", "Runs an agent.", json!({"type": "object"})),
    )
}

#[test]
fn what_a_tool_calls_itself_counts_with_each_of_its_calls() {
    let agent = react_agent(restless(1), (clock(),)).max_iterations(3);
    let agent = agent.max_tool_calls(6).compile().unwrap();
    let outer = react_agent(restless(1), (inner(agent.clone()), clock()));
    let outer = outer.max_iterations(2).max_tool_calls(4).compile().unwrap();
    let bounds = outer.bounds().unwrap();
    assert_eq!(bounds.calls.model, 2 + 4 * 3);
    assert_eq!(bounds.calls.tool, 4 + 4 * 6);

    // Nothing bounds how many of its tools an answer requests.
    let outer = ToolAgent::new(restless(1), (inner(agent),)).graph();
    let error = outer.compile().unwrap().bounds().unwrap_err();
    assert_eq!(
        error.reason,
        UnboundedReason::Calls {
            node: "tools".into()
        }
    );
}

#[test]
fn a_tool_that_runs_a_graph_without_bounds_leaves_the_agent_without_them() {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", |_: &MessagesState| MessagesStateUpdate::default());
    graph.add_edge(START, "ask");
    graph.add_conditional_edges("ask", |_: &MessagesState| "ask", ["ask", END]);
    let outer = react_agent(restless(1), (inner(graph.compile().unwrap()),));
    let error = outer.compile().unwrap().bounds().unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing bounds how often `tools` calls models and tools; if it runs a graph, as a tool that is an agent \
         does, bound the loops of that graph"
    );
}
