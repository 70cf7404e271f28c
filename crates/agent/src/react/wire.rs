//! The graph of an agent.

use std::sync::Arc;

use super::call_model::CallModel;
use super::limits::{Limits, TOOLS};
use super::run_hook::{Places, RunHook};
use super::way::Way;
use crate::middleware::{Chain, has};
use crate::tool_node::Around;
use crate::{AgentMiddleware, AgentState, Hook, ModelNode, ToolNode, Tools, pending_tool_calls};
use langgraph::graph::{
    Calls, ConfiguredNode, END, IntoNode as _, NodeExt as _, START, StateGraph,
};
use langgraph::message::ToolCall;
use langgraph::node::{Send, Target, Worker};

/// Adds the nodes and the edges of an agent.
pub(super) fn wire<S: AgentState>(
    graph: &mut StateGraph<S>,
    model: ModelNode,
    tools: Tools,
    limits: Limits,
    all: &Chain,
) {
    let way = Way::new(all);
    let around = all.having(&[Hook::AroundModel]);
    // One step for the tools, one for the model's answer, and those of the hooks on the way.
    let steps = 2 + way.before_model.len() + 2 * way.after_model.len() + way.after_agent.len();
    let agent = CallModel {
        model: model.tools(&tools).steps_after_calls(steps),
        chain: around.clone(),
        all: all.clone(),
        to_tools: limits.edge_behind_model(&way, all),
    };
    let node = agent.into_node().calls(around.calls_of_model());
    graph.add_node("agent", noted(node, &around));
    // A thread may hold calls from a time when the list was not empty.
    let worker = (!tools.is_unit()).then(|| add_tools(graph, &tools, all));
    let places = Places {
        end: way.end(),
        model: way.model(),
        tools: worker.clone(),
    };
    limits.bound(graph, &way, &places, all);
    let (end, model) = (places.end.clone(), places.model.clone());
    let first = add_hooks(
        graph,
        &way.before_agent,
        Hook::BeforeAgent,
        &model,
        &places,
        all,
    );
    graph.add_edge(START, first);
    add_hooks(
        graph,
        &way.before_model,
        Hook::BeforeModel,
        "agent",
        &places,
        all,
    );
    add_hooks(graph, &way.after_agent, Hook::AfterAgent, END, &places, all);
    let Some(worker) = worker else {
        let next = add_hooks(
            graph,
            &way.after_model,
            Hook::AfterModel,
            &end,
            &places,
            all,
        );
        graph.add_edge("agent", next);
        return;
    };
    // The last hook after the model, or the model itself, chooses the tools or the end.
    let last = add_after_model(graph, &way.after_model, &places, all);
    route_to_tools(graph, &last, worker, end.clone());
    leave_tools(graph, tools, model, end);
}

/// Leads from the tools to the model, or to the end where a tool's answer is that of the agent.
fn leave_tools<S: AgentState>(graph: &mut StateGraph<S>, tools: Tools, model: String, end: String) {
    if !tools.any_return_directly() {
        graph.add_edge(TOOLS, model);
        return;
    }
    let (done, again) = (end.clone(), model.clone());
    let after = move |state: &S| {
        let next = if tools.answered_directly(state.messages()) {
            &done
        } else {
            &again
        };
        next.clone()
    };
    graph.add_conditional_edges(TOOLS, after, [model, end]);
}

fn add_tools<S: AgentState>(
    graph: &mut StateGraph<S>,
    tools: &Tools,
    all: &Chain,
) -> Worker<ToolCall> {
    let chain = all.having(&[Hook::AroundTool, Hook::AfterTool]);
    let around = Around::new(chain.clone(), all.clone());
    let worker = ToolNode::new(tools).into_worker_inside::<S>(around);
    let calls = chain.calls_of_tool(tools.calls());
    let worker = worker.with(|node| noted(node, &chain).calls(calls));
    graph.add_worker(TOOLS, worker)
}

/// Notes the middleware around a node, for pictures.
fn noted<S: AgentState>(node: ConfiguredNode<S>, chain: &Chain) -> ConfiguredNode<S> {
    if chain.is_empty() {
        return node;
    }
    node.metadata("middleware", chain.names())
}

/// Adds the nodes of a hook, one after the other, and then `next`. Returns the first of all.
fn add_hooks<S: AgentState>(
    graph: &mut StateGraph<S>,
    having: &[Arc<dyn AgentMiddleware>],
    hook: Hook,
    next: &str,
    places: &Places,
    all: &Chain,
) -> String {
    let mut next = next.to_owned();
    for one in having.iter().rev() {
        let mut places = places.clone();
        if hook == Hook::AfterAgent {
            // The agent is on its way out already: each hook runs once.
            places.end.clone_from(&next);
        }
        let name = add_hook(graph, one, hook, &places, all);
        graph.add_edge(&name, &next);
        next = name;
    }
    next
}

/// Adds the hooks after the model, and returns the node after which the agent chooses its way.
fn add_after_model<S: AgentState>(
    graph: &mut StateGraph<S>,
    having: &[Arc<dyn AgentMiddleware>],
    places: &Places,
    all: &Chain,
) -> String {
    let mut last = "agent".to_owned();
    for one in having {
        let name = add_hook(graph, one, Hook::AfterModel, places, all);
        graph.add_edge(&last, &name);
        last = name;
    }
    last
}

fn add_hook<S: AgentState>(
    graph: &mut StateGraph<S>,
    one: &Arc<dyn AgentMiddleware>,
    hook: Hook,
    places: &Places,
    all: &Chain,
) -> String {
    debug_assert!(has(&**one, hook), "the list has only those with the hook");
    let name = RunHook::name_of(&**one, hook);
    let node = RunHook {
        one: Arc::clone(one),
        hook,
        places: places.clone(),
        all: all.clone(),
    };
    let calls = one.calls(hook, Calls::default());
    graph.add_node(&name, node.into_node().calls(calls));
    let targets = one.gotos().iter().filter_map(|goto| places.node(*goto));
    let targets: Vec<String> = targets.map(str::to_owned).collect();
    if !targets.is_empty() {
        graph.add_destinations(&name, targets);
    }
    name
}

/// Routes from the model's answer to the tools, one task for each call, or to the end.
fn route_to_tools<S: AgentState>(
    graph: &mut StateGraph<S>,
    from: &str,
    worker: Worker<ToolCall>,
    end: String,
) {
    let paths = [TOOLS.to_owned(), end.clone()];
    let calls = move |state: &S| {
        let calls = pending_tool_calls(state);
        if calls.is_empty() {
            return vec![Target::Node(end.as_str().into())];
        }
        let sends = calls.into_iter().map(|call| Send::to(&worker, call));
        sends.map(Target::Send).collect()
    };
    graph.add_conditional_edges(from, calls, paths);
}
