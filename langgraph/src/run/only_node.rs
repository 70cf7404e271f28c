//! Calls of graphs of one node that nothing observes: a function call, and no superstep loop.

use std::sync::Arc;

use super::subgraph::{SubgraphRun, scope_below};
use crate::error::{AgentError, NodeError};
use crate::graph::CompiledStateGraph;
use crate::node::{Call, Context, Jump, NodeId, Output, catch, caught};
use crate::span::Span;
use crate::state::{State, TrackedState, Write, Writes};
use crate::superstep::{Engine, RunBreakpoints, check_cancelled};
use crate::task::{Position, Task, TaskMemory, TaskResult, Writer, classify, merge};

/// Returns the only node of a graph, if a call in the task of `cx` is nothing more than a call of the node: no log, no
/// reader, no breakpoint, and no answer that could be for it.
pub(super) fn only_node<S: State>(graph: &CompiledStateGraph<S>, cx: &Context) -> Option<NodeId> {
    let node = graph.plan.only_node?;
    let outer = cx.scope();
    let shared = &outer.shared;
    let plain = outer.emitter.is_none()
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

/// Returns true if the input is at most one update, of a state without fields that live for one superstep.
pub(super) fn is_update<S: State>(graph: &CompiledStateGraph<S>, input: &Output<S>) -> bool {
    let is_update = matches!(
        input,
        Output {
            writes: Writes::None | Writes::One(Write::Update(_)),
            jump: Jump::Edges,
        }
    );
    is_update && graph.plan.fields.ephemeral.is_empty()
}

/// A call of a graph of one node, which is under way.
pub(super) struct OnlyNodeCall<'a, S: State> {
    pub(super) graph: &'a CompiledStateGraph<S>,
    /// The context of the node that calls.
    pub(super) cx: &'a Context,
    pub(super) node: NodeId,
    /// The context of the only node.
    pub(super) inner: Context,
}

impl<'a, S: State> OnlyNodeCall<'a, S> {
    /// Begins the call, unless the run is cancelled.
    pub(super) fn begin(
        graph: &'a CompiledStateGraph<S>,
        node: NodeId,
        cx: &'a Context,
        number: usize,
    ) -> Result<Self, NodeError> {
        let scope = Arc::new(scope_below(graph, cx, number));
        check_cancelled(&scope).map_err(NodeError::from_agent)?;
        if let Some(heartbeat) = &scope.heartbeat {
            heartbeat.beat();
        }
        // The input was superstep 0.
        let inner = Context::new(scope, 1, 1, node);
        Ok(Self {
            graph,
            cx,
            node,
            inner,
        })
    }

    /// Ends a call whose node has done more than to return an update.
    #[cold]
    pub(super) async fn go_on(&self, state: S, result: TaskResult<S>) -> Result<S, NodeError> {
        let task = Task::by_edge(self.node).with_memory(TaskMemory {
            result: Some(result),
            ..TaskMemory::default()
        });
        let scope = Arc::clone(self.inner.scope());
        // Nothing reads what was written: no log and no events.
        let state = TrackedState::unknown(Arc::new(state));
        let position = Position::new(&self.graph.plan, scope, state);
        let breakpoints = RunBreakpoints::new(&self.graph.plan, [None, None]);
        let mut engine = Engine::new(position, breakpoints, self.graph.state_codec());
        engine.position.step = 0;
        engine.frontier.tasks.push(task);
        let run = SubgraphRun::of(engine);
        run.into_state(self.graph, self.cx, None).await
    }
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
    let only = OnlyNodeCall::begin(graph, node, cx, number)?;
    let mut state = plan.initial.clone();
    if let Writes::One(Write::Update(update)) = input.writes {
        apply(graph, Writer::Start, &mut state, update)?;
    }
    let Some(running) = plan.node(node) else {
        return Ok(state);
    };
    let call = Call {
        state: &state,
        written: None,
        item: None,
        cx: &only.inner,
    };
    match catch(|| running.step.call(call)).await {
        Ok(Output {
            writes: Writes::One(Write::Update(mut update)),
            jump: Jump::Edges,
        }) if !only.inner.has_open_interrupt() => {
            caught(|| state.prepare(&mut update))?;
            apply(graph, Writer::Node(node), &mut state, update)?;
            Ok(state)
        }
        answer => {
            let answer = answer.map_err(Box::new);
            let result = classify(plan, node, &state, &only.inner, answer);
            Box::pin(only.go_on(state, result)).await
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
