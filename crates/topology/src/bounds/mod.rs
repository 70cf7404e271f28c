//! What a run of a graph does at worst.

use std::collections::BTreeMap;

use crate::flow::{Analysis, NODES};
use crate::rules::{At, Rule, endless};
use crate::{Calls, NodeKind, NodeName, Topology};

mod acyclic;
mod count;
mod depths;
mod explore;
#[cfg(test)]
mod tests;
mod unbounded;
mod wiring;
mod worst;

pub use unbounded::{Unbounded, UnboundedReason};

/// What a run of a graph does at worst, from its input to its end.
///
/// It holds whatever the routers answer. It does not count what is repeated after a crash, and what a
/// node repeats because it waited for an answer. Sends count where their edge has a bound; a jump, or
/// a router of the builder with a path map, is taken to start each of its other targets once.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Draft {
///     text: String,
///     good: bool,
/// }
///
/// #[node(calls(model))]
/// async fn write(_: &Draft) -> DraftUpdate {
///     DraftUpdate::default().text("…".to_owned())
/// }
///
/// #[node(calls(model, tool = 2))]
/// async fn review(_: &Draft) -> DraftUpdate {
///     DraftUpdate::default().good(false)
/// }
///
/// #[node]
/// async fn publish(_: &Draft) {}
///
/// let graph = graph! {
///     START => write => review => if |draft: &Draft| draft.good {
///         publish
///     } else {
///         write at_most 5 else publish
///     };
///     publish => END;
/// }
/// .compile()?;
///
/// let bounds = graph.bounds()?;
/// assert_eq!(bounds.runs["write"], 6);
/// assert_eq!(bounds.runs["publish"], 1);
/// assert_eq!(bounds.supersteps, 13);
/// assert_eq!((bounds.calls.model, bounds.calls.tool), (12, 12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Bounds {
    /// Supersteps of the graph itself, without those of its subgraphs.
    pub supersteps: u64,
    /// How often each node runs. A node of a subgraph is given by its path, such as `research:search`.
    pub runs: BTreeMap<String, u64>,
    /// Calls of models and tools, as nodes declare them, with retries.
    pub calls: WorstCalls,
}

/// Calls of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WorstCalls {
    /// Calls of models.
    pub model: u64,
    /// Calls of tools.
    pub tool: u64,
}

impl WorstCalls {
    /// Returns them as the calls of a node that runs the graph by itself.
    fn of_one_node(self) -> Calls {
        let of = |calls| u32::try_from(calls).unwrap_or(u32::MAX);
        Calls {
            model: of(self.model),
            tool: of(self.tool),
        }
    }

    fn add(&mut self, times: u64, model: u64, tool: u64) {
        self.model = self.model.saturating_add(times.saturating_mul(model));
        self.tool = self.tool.saturating_add(times.saturating_mul(tool));
    }
}

impl Topology {
    /// Returns what a run of this graph does at worst.
    ///
    /// # Errors
    ///
    /// [`Unbounded`], with the reason, if nothing bounds a loop, a map or a router.
    pub fn bounds(&self) -> Result<Bounds, Unbounded> {
        let analysis = Analysis::new(self);
        check(self, &analysis)?;
        let worst = count::count(self, &analysis);
        let mut bounds = Bounds {
            supersteps: worst.supersteps,
            ..Bounds::default()
        };
        for (node, runs) in self.nodes.iter().zip(&worst.runs) {
            bounds.runs.insert(node.name.to_string(), *runs);
            let attempts = runs.saturating_mul(u64::from(node.max_attempts.max(1)));
            let Calls { model, tool } = node.calls;
            bounds.calls.add(attempts, model.into(), tool.into());
            if let NodeKind::Subgraph(inner) = &node.kind {
                let inner = inner.bounds().map_err(|reason| reason.inside(&node.name))?;
                bounds
                    .calls
                    .add(attempts, inner.calls.model, inner.calls.tool);
                for (name, runs) in inner.runs {
                    let runs = runs.saturating_mul(attempts);
                    bounds.runs.insert(format!("{}:{name}", node.name), runs);
                }
            }
        }
        Ok(bounds)
    }

    /// Returns what a run of this graph calls at worst, for a node or a tool that runs the graph by itself:
    /// [`Calls::UNBOUNDED`] if nothing bounds the graph.
    pub fn calls_at_worst(&self) -> Calls {
        let bounds = self.bounds();
        bounds.map_or(Calls::UNBOUNDED, |bounds| bounds.calls.of_one_node())
    }
}

/// Returns the first reason why a run may have no end.
fn check(topology: &Topology, analysis: &Analysis<'_>) -> Result<(), Unbounded> {
    let name = |node: usize| {
        let node = topology.nodes.get(node);
        node.map_or_else(|| NodeName::from(crate::START), |node| node.name.clone())
    };
    let flow = &analysis.flow;
    let branches = flow.branches.iter();
    let routers = branches.filter_map(|(from, arms)| arms.is_none().then_some(*from));
    let gotos = flow.gotos.iter();
    let jumps = gotos.filter_map(|(from, targets)| targets.is_none().then_some(*from));
    let mut anywhere = routers.chain(jumps);
    if let Some(from) = anywhere.find(|from| analysis.reached.get(*from)) {
        let node = from.checked_sub(NODES).map_or(crate::START.into(), name);
        return Err(UnboundedReason::Router { node }.into());
    }
    for found in endless(topology, analysis) {
        match (found.rule, found.at) {
            (Rule::EndlessCycle { cycle }, _) => {
                let nodes = cycle.into_iter().map(name).collect();
                return Err(UnboundedReason::Loop { nodes }.into());
            }
            (Rule::EndlessMap, At::Node(worker)) => {
                let worker = name(worker);
                return Err(UnboundedReason::Map { worker }.into());
            }
            _ => {}
        }
    }
    let nodes = topology.nodes.iter().zip(analysis.nodes());
    let mut nodes = nodes.filter(|(_, vertex)| analysis.reached.get(*vertex));
    if let Some((node, _)) = nodes.find(|(node, _)| node.calls.is_unbounded()) {
        let node = node.name.clone();
        return Err(UnboundedReason::Calls { node }.into());
    }
    Ok(())
}
