//! Routing: calls a task's routers and checks its targets.

use super::task_result::{TaskResult, without_questions};
use crate::error::AgentError;
use crate::graph::plan::{Plan, Routes};
use crate::graph::{END, NodeName, START, UnknownKey};
use crate::node::{Context, Jump, NodeError, NodeId, Panicked, Send, Target, catch};
use crate::state::State;

/// Returns true if the routers of a node with this output run.
#[inline]
pub(crate) fn asks_routers<S: State>(plan: &Plan<S>, node: NodeId, jump: &Jump<S>) -> bool {
    let routers = plan.node(node).map(|node| &node.out.routers);
    routers.is_some_and(|routers| !routers.is_empty()) && follows_edges(jump)
}

pub(crate) fn follows_edges<S: State>(jump: &Jump<S>) -> bool {
    match jump {
        Jump::Edges => true,
        Jump::To(to) => to.edges,
        Jump::End | Jump::Parent(_) => false,
    }
}

/// Calls the routers of a task, which see `view`. Their targets exist.
pub(crate) async fn ask<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    view: &S,
    cx: &Context,
) -> Result<Vec<Routes<S>>, TaskResult<S>> {
    cx.begin_routing();
    let Some(node_of_plan) = plan.node(node) else {
        return Ok(Vec::new());
    };
    let routers = &node_of_plan.out.routers;
    let mut answers = Vec::with_capacity(routers.len());
    for router in routers {
        let asked = catch(|| router.router.ask(view, cx).into_run()).await;
        answers.push(check_answer(plan, node, cx, asked)?);
    }
    Ok(answers)
}

/// Checks that the targets of a router's answer exist, and that it has no open interrupt.
#[allow(clippy::result_large_err)] // moved once, where a task ends
pub(crate) fn check_answer<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    cx: &Context,
    answer: Result<Routes<S>, NodeError>,
) -> Result<Routes<S>, TaskResult<S>> {
    let answer = answer.map_err(|error| router_error(plan, node, error));
    let routes = without_questions(answer, cx)?;
    check_routes(plan, node, &routes).map_err(NodeError::from_agent)?;
    Ok(routes)
}

/// Converts a router's error to its node's: an unknown key of the path map is a routing error, and
/// a panic says where it was.
fn router_error<S: State>(plan: &Plan<S>, node: NodeId, error: NodeError) -> NodeError {
    match error.downcast_ref::<UnknownKey>() {
        Some(unknown) => NodeError::from_agent(AgentError::Routing {
            node: plan.name(node),
            target: unknown.key.to_string(),
            problem: unknown.to_string(),
        }),
        None => match error.downcast_ref::<Panicked>() {
            Some(panicked) => panicked.of_router().into(),
            None => error,
        },
    }
}

/// Fails if a task jumps to a target that is not allowed: the error is the task's own.
pub(crate) fn check_jump<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    jump: &Jump<S>,
) -> Result<(), NodeError> {
    if let Jump::To(to) = jump {
        for target in &to.targets {
            resolve_target(plan, node, target, declared(plan, node))
                .map_err(NodeError::from_agent)?;
        }
    }
    Ok(())
}

fn check_routes<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    routes: &Routes<S>,
) -> Result<(), AgentError> {
    match routes {
        Routes::Arm(_) => Ok(()),
        Routes::Targets(targets) => {
            for target in targets {
                resolve_target(plan, node, target, None)?;
            }
            Ok(())
        }
        Routes::Several(several) => {
            for routes in several {
                check_routes(plan, node, routes)?;
            }
            Ok(())
        }
    }
}

fn listed(names: &[NodeName]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Returns the declared targets of `node`, if it declares some.
pub(crate) fn declared<S: State>(plan: &Plan<S>, node: NodeId) -> Option<&[NodeId]> {
    plan.node(node)?.destinations.as_deref()
}

/// Returns the node that a target names, if `from` may go there; `None` for [`END`].
pub(crate) fn resolve_target<S: State>(
    plan: &Plan<S>,
    from: NodeId,
    target: &Target<S>,
    declared: Option<&[NodeId]>,
) -> Result<Option<NodeId>, AgentError> {
    let (Target::Node(name) | Target::Send(Send { node: name, .. })) = target;
    let problem = match (plan.node_named(name), target) {
        (Some(node), _) if declared.is_none_or(|declared| declared.contains(&node)) => {
            return Ok(Some(node));
        }
        (Some(_), _) if declared.is_some_and(<[NodeId]>::is_empty) => format!(
            "it does not say that it may go to `{name}`; say so beside its edges: `{} => goto [{name}];`",
            plan.name(from)
        ),
        (Some(_), _) => format!(
            "`{name}` is not among the nodes it says it may go to; add it to its `goto [..]`"
        ),
        (None, Target::Node(_)) if &**name == END => return Ok(None),
        (None, _) if &**name == END => "a send needs a node; `END` runs nothing".to_owned(),
        (None, _) if &**name == START => "`START` is no target: a run starts there once".to_owned(),
        (None, _) => {
            let known = listed(plan.declared_names());
            format!("there is no node `{name}` (nodes: {known})")
        }
    };
    Err(AgentError::Routing {
        node: plan.name(from),
        target: name.to_string(),
        problem,
    })
}
