//! The targets of jumps and routes.

use crate::error::{AgentError, NodeError};
use crate::graph::plan::Plan;
use crate::graph::routes::Routes;
use crate::graph::{END, NodeName, START};
use crate::node::{Jump, NodeId, Send, Target};
use crate::state::State;

/// Returns true if a task with this jump follows its edges, and so its routers run.
pub(crate) fn follows_edges<S: State>(jump: &Jump<S>) -> bool {
    match jump {
        Jump::Edges => true,
        Jump::To(to) => to.edges,
        Jump::End | Jump::Parent(_) => false,
    }
}

/// Returns true if the routers of a node with this output run.
#[inline]
pub(crate) fn calls_routers<S: State>(plan: &Plan<S>, node: NodeId, jump: &Jump<S>) -> bool {
    let routers = plan.node(node).map(|node| &node.out.routers);
    routers.is_some_and(|routers| !routers.is_empty()) && follows_edges(jump)
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

/// Fails if a router's answer has a target that does not exist.
pub(crate) fn check_routes<S: State>(
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
