//! The graph that the chains describe, with the place of everything in the user's text.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Expr, ExprPath, Pat, token};

use super::ast::{Asks, Form};
use langgraph_topology::flow::{self, END, Flow, NODES, START};

mod beside;
mod build;

pub(crate) use beside::Beside;

/// What the chains say.
#[derive(Default)]
pub(crate) struct Model {
    /// The nodes, in the order in which they are first named.
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) joins: Vec<Join>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) gotos: Vec<Goto>,
    /// What stands where it cannot stand.
    pub(crate) slips: Vec<Slip>,
    /// START and END, wherever they are written.
    pub(crate) ends: Vec<(usize, ExprPath)>,
    numbers: BTreeMap<String, usize>,
    /// How many places there are so far.
    places: usize,
}

/// A node, under the last name of its path.
pub(crate) struct Node {
    pub(crate) name: String,
    /// Everywhere it is named, the first at the front.
    pub(crate) mentions: Vec<ExprPath>,
    /// Other paths with the same last name.
    pub(crate) clashes: Vec<ExprPath>,
    /// Where a `for` gives it an item.
    pub(crate) worker: Option<Span>,
}

/// A vertex where it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) vertex: usize,
    pub(crate) span: Span,
    /// Tells two places of one vertex apart, which their spans cannot.
    pub(crate) mention: usize,
}

/// `from => to`
pub(crate) struct Edge {
    pub(crate) from: Place,
    pub(crate) to: Place,
    /// True when the two stand side by side in the text.
    pub(crate) adjacent: bool,
}

/// `[source, …] => target`
pub(crate) struct Join {
    pub(crate) sources: Vec<Place>,
    pub(crate) target: Place,
}

/// A decision of a router.
pub(crate) struct Switch {
    pub(crate) source: Place,
    pub(crate) keyword: Span,
    /// `None` for a `for` on its own: one arm, whose items the router gives.
    pub(crate) form: Option<Form>,
    pub(crate) router: Expr,
    pub(crate) brace: Option<token::Brace>,
    pub(crate) arms: Vec<Arm>,
    pub(crate) broken: bool,
}

/// One answer of a router.
pub(crate) struct Arm {
    pub(crate) label: String,
    pub(crate) pattern: Option<Pat>,
    pub(crate) guard: Option<(token::If, Expr)>,
    /// The router of an `else if`.
    pub(crate) asks: Option<Asks>,
    pub(crate) targets: Vec<Place>,
    pub(crate) map: Option<Map>,
}

/// `for pattern in items { worker(item) }`
pub(crate) struct Map {
    pub(crate) keyword: Span,
    pub(crate) pattern: Pat,
    /// The items; `None` when they are the router's answer.
    pub(crate) items: Option<Expr>,
    pub(crate) worker: usize,
    pub(crate) paren: token::Paren,
    pub(crate) item: Expr,
}

/// `source => goto [..]`
pub(crate) struct Goto {
    pub(crate) source: Place,
    pub(crate) targets: Vec<Place>,
}

/// A stage where it cannot stand.
pub(crate) enum Slip {
    /// START behind an arrow, or in an arm.
    StartAsTarget { at: Span },
    /// END before an arrow.
    EndAsSource { at: Span, next: String },
    /// END at the end of a chain in a group that is waited for.
    EndInGroup { at: Span, next: Span },
    /// START in a group that is waited for.
    StartInJoin { at: Span },
    /// A decision at the end of a chain in a group that is waited for.
    DecisionInGroup {
        at: Span,
        kind: &'static str,
        next: Span,
    },
    /// A decision behind a group.
    DecisionAfterGroup { at: Span, kind: &'static str },
    /// A decision with nothing before it, or first in an arm.
    DecisionFirst {
        at: Span,
        kind: &'static str,
        arm: bool,
    },
    /// `goto` behind START.
    GotoAfterStart { at: Span },
    /// A `for` beside other targets of one arm.
    MapInGroup { at: Span },
}

impl Model {
    /// The name of a vertex, for a message.
    pub(crate) fn name(&self, vertex: usize) -> &str {
        match vertex {
            START => "START",
            END => "END",
            vertex => {
                let node = vertex
                    .checked_sub(NODES)
                    .and_then(|place| self.nodes.get(place));
                node.map_or("", |node| node.name.as_str())
            }
        }
    }

    /// The node of a vertex.
    pub(crate) fn node(&self, vertex: usize) -> Option<&Node> {
        self.nodes.get(vertex.checked_sub(NODES)?)
    }

    /// The graph as numbers.
    pub(crate) fn flow(&self) -> Flow {
        let vertices = |places: &[Place]| places.iter().map(|place| place.vertex).collect();
        let arm = |arm: &Arm| flow::Arm {
            targets: vertices(&arm.targets),
            map: arm.map.is_some(),
        };
        let edges = self
            .edges
            .iter()
            .map(|edge| (edge.from.vertex, edge.to.vertex));
        let joins = self
            .joins
            .iter()
            .map(|join| (vertices(&join.sources), join.target.vertex));
        let branches = self.switches.iter().map(|switch| {
            (
                switch.source.vertex,
                Some(switch.arms.iter().map(arm).collect()),
            )
        });
        let gotos = self.gotos.iter();
        let gotos = gotos.map(|goto| (goto.source.vertex, Some(vertices(&goto.targets))));
        Flow {
            nodes: self.nodes.len(),
            edges: edges.collect(),
            joins: joins.collect(),
            branches: branches.collect(),
            gotos: gotos.collect(),
        }
    }
}

/// The name of the node that a path names.
pub(crate) fn node_name(path: &ExprPath) -> String {
    let last = path.path.segments.last();
    last.map(|segment| segment.ident.unraw().to_string())
        .unwrap_or_default()
}
