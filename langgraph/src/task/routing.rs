//! Routing of a task: asks its routers.

use std::pin::Pin;

use super::merge::merge;
use super::{Finished, Position, Task, TaskResult, Writer, without_interrupt};
use crate::error::{AgentError, InvalidUpdate, NodeError, Panicked};
use crate::graph::UnknownKey;
use crate::graph::plan::Plan;
use crate::graph::routes::{Routed, RouterCall, Routes};
use crate::graph::targets::{calls_routers, check_routes};
use crate::graph::wiring::PlanRouter;
use crate::node::{Context, NodeId, catch, caught};
use crate::state::{State, Write, Writes};

/// Returns true if the routers of a task beside others have a view of their own.
pub(crate) fn routes_on_view<S: State>(plan: &Plan<S>, task: &Task<S>, done: &Finished<S>) -> bool {
    done.routes.is_none()
        && calls_routers(plan, task.node, &done.output.jump)
        && !task.is_item_of(plan)
}

/// Asks the routers of a task beside others, which see the snapshot with its writes.
pub(crate) async fn route_on_view<S: State>(
    position: &Position<S>,
    node: NodeId,
    cx: &Context,
    done: Finished<S>,
) -> TaskResult<S> {
    let plan = &*position.plan;
    let asked = match view(plan, node, &position.state, &done.output.writes) {
        Ok(view) => {
            let routers = plan.routers(node);
            call_routers(plan, (node, routers), &view, cx)
                .answers()
                .await
        }
        Err(error) => Err(NodeError::from_agent(error.into()).into()),
    };
    done.routed(asked)
}

/// The answers of routers: at once, which is the rule, or later.
pub(crate) enum Routing<'a, S: State> {
    /// The only router has picked this arm; without routers there is none.
    Arm(Option<usize>),
    Later(BoxedRouted<'a, S>),
}

type BoxedRouted<'a, S> =
    Pin<Box<dyn Future<Output = Result<Routed<S>, TaskResult<S>>> + Send + 'a>>;

impl<S: State> Routing<'_, S> {
    pub(crate) async fn answers(self) -> Result<Routed<S>, TaskResult<S>> {
        match self {
            Self::Arm(arm) => Ok(arm.map_or(Routed::None, Routed::arm)),
            Self::Later(answers) => answers.await,
        }
    }
}

/// Asks the routers of a task, which see `view`. The targets of their answers exist.
#[allow(clippy::inline_always)] // it is part of each superstep
#[inline(always)]
pub(crate) fn call_routers<'a, S: State>(
    plan: &'a Plan<S>,
    (node, routers): (NodeId, &'a [PlanRouter<S>]),
    view: &'a S,
    cx: &'a Context,
) -> Routing<'a, S> {
    if routers.is_empty() {
        return Routing::Arm(None);
    }
    cx.begin_routing();
    let [only] = routers else {
        return Routing::Later(Box::pin(call_several(plan, node, routers, view, cx)));
    };
    let asked = caught(|| only.router.call(view, cx));
    let interrupts = cx.has_open_interrupt();
    match asked {
        Ok(RouterCall::Arm(arm)) if !interrupts => Routing::Arm(Some(arm)),
        asked => Routing::Later(Box::pin(async move {
            let routes = answer(plan, node, cx, asked).await?;
            Ok(Routed::One(routes))
        })),
    }
}

async fn call_several<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    routers: &[PlanRouter<S>],
    view: &S,
    cx: &Context,
) -> Result<Routed<S>, TaskResult<S>> {
    let mut answers = Vec::with_capacity(routers.len());
    for router in routers {
        let asked = caught(|| router.router.call(view, cx));
        answers.push(answer(plan, node, cx, asked).await?);
    }
    Ok(Routed::from(answers))
}

async fn answer<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    cx: &Context,
    asked: Result<RouterCall<'_, S>, Panicked>,
) -> Result<Routes<S>, TaskResult<S>> {
    let answer = match asked {
        Ok(RouterCall::Arm(arm)) => Ok(Routes::Arm(arm)),
        Ok(RouterCall::Run(run)) => catch(|| run).await,
        Err(panicked) => Err(panicked.into()),
    };
    check_answer(plan, node, cx, answer)
}

/// Checks that the targets of a router's answer exist, and that it has no open interrupt.
#[allow(clippy::result_large_err)] // moved once, where a task ends
fn check_answer<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    cx: &Context,
    answer: Result<Routes<S>, NodeError>,
) -> Result<Routes<S>, TaskResult<S>> {
    let answer = answer.map_err(|error| router_error(plan, node, error));
    let routes = without_interrupt(answer, cx)?;
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

/// Returns the snapshot with the writes of one task.
pub(crate) fn view<S: State>(
    plan: &Plan<S>,
    node: NodeId,
    state: &S,
    writes: &Writes<S>,
) -> Result<S, InvalidUpdate> {
    let mut view = state.clone();
    for write in writes.iter() {
        match write {
            Write::Update(update) => merge(plan, Writer::from(node), &mut view, update.clone())?,
            Write::Overwrite(update) => view.overwrite(update.clone()),
            Write::State(state) => view.clone_from(state),
        }
    }
    Ok(view)
}
