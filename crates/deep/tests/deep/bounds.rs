//! What runs of the ready-made agents do at worst.

use langgraph::graph::{Bounds, CompiledStateGraph, Unbounded, UnboundedReason};
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, ScriptedModel, SimpleAgent, ToolAgent, react_agent};
use langgraph_deep::deep_agent;
use langgraph_middleware::{
    AutoMode, LongTermMemory, ModelGuard, ModelRefusal, Moderation, Rubric, Summarization,
    ToolEmulator, ToolSelector,
};
use langgraph_patterns::{PlanAndExecute, Reflection, Retrieval, Reviewed, Supervisor, Swarm};

/// A model that says nothing.
fn model() -> ScriptedModel {
    ScriptedModel::new(["hi"])
}

/// The time.
#[tool]
async fn now() -> &'static str {
    "noon"
}

fn react() -> CompiledStateGraph<MessagesState> {
    react_agent(model(), (now,)).compile().unwrap()
}

/// Returns the supersteps, and the calls of models and of tools.
fn numbers(bounds: Result<Bounds, Unbounded>) -> (u64, u64, u64) {
    let bounds = bounds.unwrap();
    (bounds.supersteps, bounds.calls.model, bounds.calls.tool)
}

#[test]
fn every_ready_made_agent_has_bounds_by_default() {
    let tool_agent = ToolAgent::new(model(), (now,)).graph();
    let simple = SimpleAgent::new(model()).graph();
    let plan = PlanAndExecute::new(model(), react()).compile();
    let reflection = Reflection::new(model(), model()).compile();
    let retrieval = Retrieval::new(model(), ["handbook"]).compile();
    let supervisor = Supervisor::new(model()).agent("clerk", "Files.", react());
    let swarm = Swarm::new().agent("sales", "sells", model(), (now,));
    let swarm = swarm.agent("support", "helps", model(), ());
    let deep = deep_agent(model()).tools((now,)).compile();

    assert_eq!(numbers(react().bounds()), (1000, 500, 10_000));
    assert_eq!(numbers(tool_agent.compile().unwrap().bounds()), (21, 10, 0));
    assert_eq!(numbers(simple.compile().unwrap().bounds()), (1, 1, 0));
    // A plan, and three rounds of twenty steps, each with an agent. A router of the builder is taken to lead to each
    // of its targets, so from the plan to a conclusion too.
    let steps = 3 * 20;
    let planned = (9, 3 + 4 * 3 + steps * 500, steps * 10_000);
    assert_eq!(numbers(plan.unwrap().bounds()), planned);
    // Three drafts, each with a verdict that the model may repair twice.
    assert_eq!(numbers(reflection.unwrap().bounds()), (7, 3 + 3 * 3, 0));
    assert_eq!(numbers(retrieval.unwrap().bounds()), (2, 2, 0));
    // The supervisor comes back from its clerk and from its tools, which it has none of its own.
    let (_, models, tools) = numbers(supervisor.compile().unwrap().bounds());
    assert_eq!(
        (models, tools),
        (999 + 10_000 * 500, 20_000 + 10_000 * 10_000)
    );
    let (_, models, tools) = numbers(swarm.compile().unwrap().bounds());
    // A run begins with either of the two, and comes to each 499 times from the tools of each.
    assert_eq!((models, tools), (2 * (1 + 2 * 499), 0));
    let (_, models, tools) = numbers(deep.unwrap().bounds());
    assert!(models > 500 && tools > 10_000, "{models} {tools}");
}

#[test]
fn a_person_may_send_an_answer_back_without_a_bound() {
    let reviewed = Reviewed::new(react());
    let error = reviewed.compile().unwrap().bounds().unwrap_err();
    assert!(
        matches!(error.reason, UnboundedReason::Loop { .. }),
        "{error}"
    );

    let mut graph = Reviewed::new(react()).into_graph();
    graph.add_bound(langgraph::graph::EdgeBound::new("review", "agent", 2).or_else(END));
    let bounds = graph.compile().unwrap().bounds();
    assert_eq!(numbers(bounds), (6, 3 * 500, 3 * 10_000));
}

#[test]
fn models_that_middleware_asks_count() {
    let calls = |agent: langgraph_agent::ReactAgent| {
        let bounds = agent
            .max_iterations(10)
            .max_tool_calls(20)
            .compile()
            .unwrap()
            .bounds();
        bounds.unwrap().calls.model
    };
    let agent = || react_agent(model(), (now,));
    assert_eq!(calls(agent()), 10);
    // Its hook also runs before the call that is one too many.
    assert_eq!(calls(agent().with(Summarization::new(model()))), 10 + 11);
    assert_eq!(calls(agent().with(ToolSelector::new(model(), 2))), 40);
    assert_eq!(calls(agent().with(ToolEmulator::all(model()))), 30);
    assert_eq!(calls(agent().with(AutoMode::new(["now"], model()))), 70);
    assert_eq!(calls(agent().with(ModelRefusal::ask(model()))), 20);
    let memory = LongTermMemory::new(|_| ["memories"].into());
    assert_eq!(calls(agent().with(memory)), 10);
    let memory = LongTermMemory::new(|_| ["memories"].into()).extract(model());
    // A router of the builder is taken to lead to each of its targets, so to the end after each answer.
    assert_eq!(calls(agent().with(memory)), 10 + 10 * 3);
    let guard = || ModelGuard::new(model(), "No numbers.", "no");
    let moderation = Moderation::new().input(guard()).output(guard());
    // The result of a tool may be an answer, too.
    let judged = 10 * 3 + 20 * 3;
    assert_eq!(calls(agent().with(moderation)), 3 + 10 + judged);
    // It may send each answer back, which its hook has graded.
    let rubric = Rubric::new(model(), "It is short.");
    assert!(calls(agent().with(rubric)) >= 40);
}

#[test]
fn a_deep_agent_has_the_bounds_of_its_sub_agents() {
    let inner = deep_agent(model())
        .no_general_purpose()
        .max_iterations(3)
        .max_tool_calls(5);
    let outer = deep_agent(model())
        .no_general_purpose()
        .max_iterations(2)
        .max_tool_calls(4);
    let alone = inner.clone().compile().unwrap().bounds().unwrap().calls;
    let both = outer
        .clone()
        .subagent("helper", "Helps.", inner)
        .compile()
        .unwrap();
    let outer = outer.compile().unwrap().bounds().unwrap().calls;
    let both = both.bounds().unwrap().calls;
    assert_eq!(both.model, outer.model + 4 * alone.model);
    assert_eq!(both.tool, outer.tool + 4 * alone.tool);
}
