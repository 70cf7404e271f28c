//! How often a run of an agent calls its model and its tools.

use super::run_hook::{Places, RunHook};
use super::way::Way;
use crate::middleware::Chain;
use crate::{AgentGoto, AgentState, Hook};
use langgraph::graph::{EdgeBound, START, StateGraph};
use std::collections::BTreeSet;

/// The node of the tools.
pub(super) const TOOLS: &str = "tools";
/// As many model calls as the 1,000 supersteps of a run have room for, each with its tools.
const ITERATIONS: u32 = 500;
/// Twenty for each of these model calls.
const TOOL_CALLS: u32 = 10_000;

/// The limits of an agent, where they are set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    pub(super) iterations: Option<u32>,
    pub(super) tool_calls: Option<u32>,
}

impl Limits {
    /// Bounds the edges that close the loops of an agent, and those to its tools.
    pub(super) fn bound<S: AgentState>(
        self,
        graph: &mut StateGraph<S>,
        way: &Way,
        places: &Places,
        all: &Chain,
    ) {
        let mut bounds = Vec::new();
        let last_hook = way.before_model.last();
        // Middleware limits the calls of the model in a hook before it.
        let by_middleware = last_hook.and(all.model_calls());
        let calls = least(self.iterations, by_middleware, ITERATIONS);
        // Each call of the model comes from the last hook before it. Without one, the first needs no way back.
        let mut back = calls.saturating_sub(1);
        if let Some(last) = last_hook {
            let last = RunHook::name_of(&**last, Hook::BeforeModel);
            bounds.push(EdgeBound::new(last, "agent", calls));
            back = calls;
        } else if calls == 0 {
            let first = entries(way).into_iter();
            bounds.extend(first.map(|from| EdgeBound::new(from, &places.model, 0)));
        }
        if let Some(tools) = &places.tools {
            let calls = self.calls_of_tools(all);
            let chooser = way.chooser();
            for (name, _) in way.going(AgentGoto::Tools) {
                if name != chooser {
                    bounds.push(EdgeBound::new(name, tools.name(), calls));
                }
            }
            bounds.push(EdgeBound::new(chooser, tools.name(), calls));
            if last_hook.is_none() {
                bounds.push(EdgeBound::new(tools.name(), &places.model, back));
            }
        }
        for (name, hook) in way.going(AgentGoto::Model) {
            if hook != Hook::BeforeAgent {
                bounds.push(EdgeBound::new(name, &places.model, back));
            }
        }
        for bound in bounds {
            graph.add_bound(bound);
        }
    }

    fn calls_of_tools(self, all: &Chain) -> u32 {
        least(self.tool_calls, all.tool_calls(), TOOL_CALLS)
    }

    /// Returns the edge to the tools if it starts behind the node of the model, and its bound is the agent's own. Calls
    /// beyond a limit of middleware are answered before they get there.
    pub(super) fn edge_behind_model(self, way: &Way, all: &Chain) -> Option<[String; 2]> {
        let by_middleware = all.tool_calls() == Some(self.calls_of_tools(all));
        let behind = !way.after_model.is_empty() && !by_middleware;
        behind.then(|| [way.chooser(), TOOLS.to_owned()])
    }
}

/// Returns where a run comes from that goes to its model for the first time.
fn entries(way: &Way) -> BTreeSet<String> {
    let last = way.before_agent.last();
    let last = last.map(|last| RunHook::name_of(&**last, Hook::BeforeAgent));
    let jumps = way.going(AgentGoto::Model).into_iter();
    let jumps = jumps.filter(|(_, hook)| *hook == Hook::BeforeAgent);
    let all = jumps.map(|(name, _)| name);
    all.chain([last.unwrap_or_else(|| START.to_owned())])
        .collect()
}

/// Returns the least of the limits that are set, or else the default.
fn least(own: Option<u32>, by_middleware: Option<u32>, default: u32) -> u32 {
    let set = own.into_iter().chain(by_middleware);
    set.min().unwrap_or(default)
}
