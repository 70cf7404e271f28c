//! The path of nodes to a graph.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use langgraph_topology::NodeName;

use super::{NodeId, Scope};

/// The path of nodes to a graph, outermost first; empty at the root.
///
/// The path to a graph in a task is put together when it is first read: most calls never read it.
#[derive(Default)]
pub(crate) struct GraphPath {
    above: Above,
    names: OnceLock<Arc<[NodeName]>>,
}

/// What is around a graph.
enum Above {
    /// The graph that calls it.
    Call(CallPlace),
    /// None in this process; with the text of its call, if its run is in another one.
    None(Box<str>),
}

impl Default for Above {
    fn default() -> Self {
        Self::None(Box::default())
    }
}

/// Where a graph is called.
pub(super) struct CallPlace {
    /// The scope of the graph around.
    pub(super) scope: Arc<Scope>,
    /// The node that calls it.
    pub(super) node: NodeId,
    /// The superstep of the graph around.
    pub(super) step: usize,
    /// The number of the task in the superstep.
    pub(super) task: u32,
    /// The number of the call in the task.
    pub(super) call: usize,
}

impl GraphPath {
    /// The path to a graph that is called there.
    #[inline]
    pub(super) fn below(place: CallPlace) -> Self {
        Self {
            above: Above::Call(place),
            names: OnceLock::new(),
        }
    }

    /// Sets the call of a graph whose run is in another process, as [`of_call`](Self::of_call) returns it there.
    pub(crate) fn with_call(self, call: String) -> Self {
        let above = Above::None(call.into());
        Self { above, ..self }
    }

    /// Returns the names of the nodes.
    pub(crate) fn names(&self) -> Arc<[NodeName]> {
        Arc::clone(self.known())
    }

    /// Returns a text that no other call of the run has, and that the call keeps when its task runs again.
    pub(crate) fn of_call(&self) -> String {
        let place = match &self.above {
            Above::Call(place) => place,
            Above::None(call) if call.is_empty() => return self.join("/"),
            Above::None(call) => return call.to_string(),
        };
        let above = place.scope.path.of_call();
        let above = if above.is_empty() { above } else { above + "/" };
        let task = match place.task {
            0 => String::new(),
            task => format!("[{task}]"),
        };
        let name = place.scope.name(place.node);
        format!("{above}{name}@{}{task}#{}", place.step, place.call)
    }

    /// Returns true if the graph is no graph in a task.
    #[inline]
    pub(crate) fn is_root(&self) -> bool {
        let is_empty = |names: &Arc<[NodeName]>| names.is_empty();
        matches!(self.above, Above::None(_)) && self.names.get().is_none_or(is_empty)
    }

    fn known(&self) -> &Arc<[NodeName]> {
        self.names.get_or_init(|| match &self.above {
            Above::Call(above) => {
                let outer = above.scope.path.iter().cloned();
                outer.chain([above.scope.name(above.node)]).collect()
            }
            Above::None(_) => Arc::default(),
        })
    }
}

impl From<Arc<[NodeName]>> for GraphPath {
    fn from(names: Arc<[NodeName]>) -> Self {
        Self {
            names: names.into(),
            ..Self::default()
        }
    }
}

impl Deref for GraphPath {
    type Target = [NodeName];

    fn deref(&self) -> &[NodeName] {
        self.known()
    }
}
