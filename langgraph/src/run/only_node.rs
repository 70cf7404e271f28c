//! Calls of graphs of one node that nothing observes: a function call, and no superstep loop.

use std::sync::Arc;

use super::subgraph::{SubgraphRun, scope_below};
use crate::error::{AgentError, NodeError};
use crate::graph::CompiledStateGraph;
use crate::node::{Call, Context, Jump, NodeId, Output, Scope, Write, Writes, caught};
use crate::span::Span;
use crate::state::State;
use crate::superstep::{Engine, check_cancelled};
use crate::task::{Task, TaskMemory, Writer, classify, merge, run_node};

/// Returns the only node of a graph, if a call in the task of `cx` is nothing more than a call of the node: no log, no
/// reader, no breakpoint, no field that lives for one superstep, and no answer that could be for it.
pub(super) fn only_node<S: State>(
    graph: &CompiledStateGraph<S>,
    input: &Output<S>,
    cx: &Context,
) -> Option<NodeId> {
    let node = graph.plan.only_node?;
    let outer = cx.scope();
    let shared = &outer.shared;
    let is_update = matches!(
        input,
        Output {
            writes: Writes::None | Writes::One(Write::Update(_)),
            jump: Jump::Edges,
        }
    );
    let plain = is_update
        && graph.plan.fields.ephemeral.is_empty()
        && outer.emitter.is_none()
        && cx.place().is_none()
        && cx.answers().is_empty()
        && outer.limit > 0
        && shared.paths_before.is_empty()
        && shared.paths_after.is_empty()
        && graph.plan.interrupt_before.is_never()
        && graph.plan.interrupt_after.is_never()
        && !Span::is_watched();
    plain.then_some(node)
}

/// Calls the only node of a graph, and returns the final state.
pub(super) async fn call_only_node<S: State>(
    graph: &CompiledStateGraph<S>,
    node: NodeId,
    input: Output<S>,
    cx: &Context,
    number: usize,
) -> Result<S, NodeError> {
    let plan = &graph.plan;
    let scope = Arc::new(scope_below(graph, cx));
    check_cancelled(&scope).map_err(NodeError::from_agent)?;
    let mut state = plan.initial.clone();
    if let Writes::One(Write::Update(update)) = input.writes {
        apply(graph, Writer::Start, &mut state, update)?;
    }
    if let Some(heartbeat) = &scope.heartbeat {
        heartbeat.beat();
    }
    // The input was superstep 0.
    let inner = Context::new(Arc::clone(&scope), 1, 1, node);
    let Some(running) = plan.node(node) else {
        return Ok(state);
    };
    let call = Call {
        state: &state,
        item: None,
        cx: &inner,
    };
    match run_node(running, call).await {
        Ok(Output {
            writes: Writes::One(Write::Update(mut update)),
            jump: Jump::Edges,
        }) if !inner.has_open_interrupt() => {
            caught(|| state.prepare(&mut update))?;
            apply(graph, Writer::Node(node), &mut state, update)?;
            Ok(state)
        }
        answer => {
            let result = classify(plan, node, &state, &inner, answer);
            let task = Task::by_edge(node).with_memory(TaskMemory {
                result: Some(result),
                ..TaskMemory::default()
            });
            Box::pin(go_on(graph, (scope, state), task, cx, number)).await
        }
    }
}

fn apply<S: State>(
    graph: &CompiledStateGraph<S>,
    writer: Writer,
    state: &mut S,
    update: S::Update,
) -> Result<(), NodeError> {
    merge(&graph.plan, writer, state, update)
        .map_err(|error| NodeError::from_agent(AgentError::from(error)))
}

/// Ends a call whose node has done more than to return an update.
#[cold]
async fn go_on<S: State>(
    graph: &CompiledStateGraph<S>,
    (scope, state): (Arc<Scope>, S),
    task: Task<S>,
    cx: &Context,
    number: usize,
) -> Result<S, NodeError> {
    let mut engine = Engine::new(graph, scope, Arc::new(state));
    engine.position.step = 0;
    engine.frontier.tasks.push(task);
    engine.observer.interrupt_ids.call = number;
    SubgraphRun::of(engine).into_state(graph, cx, None).await
}
