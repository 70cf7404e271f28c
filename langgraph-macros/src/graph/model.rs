//! The graph that the chains describe, with spans.

use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Expr, ExprPath, Pat, token};

use super::ast::{Asks, Form};
use langgraph_topology::flow::{END, NODES, START};
use langgraph_topology::rules::{At, JoinPart};
use langgraph_topology::{self as data, NodeInfo, NodeKind, NodeName, Topology};

mod beside;
mod build;
mod decide;
mod map;
mod source;

pub(crate) use beside::Beside;

/// The edges and nodes of the chains.
#[derive(Default)]
pub(crate) struct Model {
    /// The nodes, in the order of their first mentions.
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) joins: Vec<Join>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) gotos: Vec<Goto>,
    pub(crate) bounds: Vec<Bound>,
    /// Misplaced stages.
    pub(crate) slips: Vec<Slip>,
    /// The mention of each END before an arrow, and the name after the arrow.
    pub(crate) behind_end: BTreeMap<usize, String>,
    /// The mentions of START and END.
    pub(crate) ends: Vec<(usize, ExprPath)>,
    numbers: BTreeMap<String, usize>,
    /// The decisions by name.
    named: BTreeMap<String, decide::Named>,
    /// The number of places so far.
    places: usize,
}

/// A node, under the last name of its path.
pub(crate) struct Node {
    pub(crate) name: String,
    /// All mentions, in order.
    pub(crate) mentions: Vec<ExprPath>,
    /// Other paths with the same last name.
    pub(crate) clashes: Vec<ExprPath>,
    /// The place of the `for` that gives it items.
    pub(crate) worker: Option<Span>,
}

/// A vertex and its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) vertex: usize,
    pub(crate) span: Span,
    /// Distinguishes two places of one vertex, which spans cannot.
    pub(crate) mention: usize,
}

/// `from => to`
pub(crate) struct Edge {
    pub(crate) from: Place,
    pub(crate) to: Place,
    /// True if the two are adjacent in the text.
    pub(crate) adjacent: bool,
}

/// `[source, …] => target`
pub(crate) struct Join {
    pub(crate) sources: Vec<Place>,
    pub(crate) target: Place,
}

/// A decision of a router.
pub(crate) struct Switch {
    /// The places before it; several after `a | b`, or if the decision has a name.
    pub(crate) sources: Vec<Place>,
    pub(crate) keyword: Span,
    /// `None` for a plain `for`: one arm, whose items the router returns.
    pub(crate) form: Option<Form>,
    pub(crate) router: Expr,
    pub(crate) brace: Option<token::Brace>,
    pub(crate) arms: Vec<Arm>,
    pub(crate) broken: bool,
}

/// One arm of a decision.
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
    /// The items; `None` if they are the router's answer.
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

/// `=> to at_most 5 else exit`
pub(crate) struct Bound {
    pub(crate) from: BoundSource,
    pub(crate) to: Place,
    /// `at_most`
    pub(crate) keyword: Span,
    pub(crate) at_most: u32,
    pub(crate) exit: Option<Place>,
}

/// Where a bounded edge starts.
pub(crate) enum BoundSource {
    /// At these places.
    Places(Vec<Place>),
    /// At the places before the switch of that number.
    Switch(usize),
}

/// A misplaced stage.
pub(crate) enum Slip {
    /// END at the end of a chain in a group with a successor.
    EndInGroup { at: Span, next: Span },
    /// A decision at the end of a chain in a group with a successor.
    DecisionInGroup {
        at: Span,
        kind: &'static str,
        next: Span,
    },
    /// A decision after a group.
    DecisionAfterGroup { at: Span, kind: &'static str },
    /// A decision without a predecessor, or first in an arm.
    DecisionFirst {
        at: Span,
        kind: &'static str,
        arm: bool,
    },
    /// `goto` after START.
    GotoAfterStart { at: Span },
    /// A list of sources after an arrow.
    ListAfterArrow { at: Span },
    /// A name that is twice in a list of sources.
    TwiceInList { at: Span, first: Span, name: String },
    /// A bound of a node that no single edge leads to.
    BoundOfNoEdge { at: Span, group: bool },
    /// A `for` beside other targets of one arm.
    MapInGroup { at: Span },
}

impl Model {
    /// Returns the name of a vertex, for a message.
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

    /// Returns the node of a vertex.
    pub(crate) fn node(&self, vertex: usize) -> Option<&Node> {
        self.nodes.get(vertex.checked_sub(NODES)?)
    }

    /// Returns the graph as data, as written, including impossible edges.
    ///
    /// Other paths with the name of a node become nodes at the end. Everything else keeps its
    /// index, so that findings lead back to places.
    pub(crate) fn topology(&self) -> Topology {
        let mut topology = Topology::default();
        topology.closed = true;
        topology.nodes = self.nodes.iter().map(info).collect();
        for node in &self.nodes {
            topology
                .nodes
                .extend(node.clashes.iter().map(|_| info(node)));
        }
        let names: Vec<NodeName> = [data::START, data::END]
            .into_iter()
            .map(NodeName::from)
            .chain(topology.nodes.iter().map(|node| node.name.clone()))
            .collect();
        let name = |place: &Place| names.get(place.vertex).cloned().unwrap_or_default();
        let list = |places: &[Place]| places.iter().map(name).collect();
        let arm = |arm: &Arm| data::Arm {
            label: arm.label.clone(),
            targets: list(&arm.targets),
            map: arm.map.is_some(),
        };
        let edges = self.edges.iter().map(|edge| data::Edge {
            from: name(&edge.from),
            to: name(&edge.to),
        });
        let joins = self.joins.iter().map(|join| data::Join {
            sources: list(&join.sources),
            target: name(&join.target),
        });
        let branches = self.branches().map(|(switch, source)| data::Branch {
            source: name(source),
            arms: Some(switch.arms.iter().map(arm).collect()),
        });
        let destinations = self.gotos.iter().map(|goto| data::Destinations {
            source: name(&goto.source),
            targets: list(&goto.targets),
        });
        topology.edges = edges.collect();
        topology.joins = joins.collect();
        topology.branches = branches.collect();
        topology.destinations = destinations.collect();
        let bounds = self.edge_bounds().map(|(bound, from)| {
            let edge = data::EdgeBound::new(name(from), name(&bound.to), bound.at_most);
            match &bound.exit {
                Some(exit) => edge.or_else(name(exit)),
                None => edge,
            }
        });
        topology.edge_bounds = bounds.collect();
        topology
    }

    /// Returns the bounds of the graph: one per source.
    pub(crate) fn edge_bounds(&self) -> impl Iterator<Item = (&Bound, &Place)> {
        self.bounds.iter().flat_map(|bound| {
            let places = match &bound.from {
                BoundSource::Places(places) => places.as_slice(),
                BoundSource::Switch(number) => {
                    let switch = self.switches.get(*number);
                    switch.map_or(&[][..], |switch| switch.sources.as_slice())
                }
            };
            places.iter().map(move |place| (bound, place))
        })
    }

    /// Returns the branches of the graph: one per source of a decision.
    pub(crate) fn branches(&self) -> impl Iterator<Item = (&Switch, &Place)> {
        let switches = self.switches.iter();
        switches.flat_map(|switch| switch.sources.iter().map(move |source| (switch, source)))
    }

    /// Returns a branch by its number in the topology.
    pub(crate) fn branch(&self, number: usize) -> Option<(&Switch, Place)> {
        let (switch, source) = self.branches().nth(number)?;
        Some((switch, *source))
    }

    /// Returns the source of a finding's edge.
    pub(crate) fn source(&self, at: At) -> Option<Place> {
        match at {
            At::Edge(edge) => Some(self.edges.get(edge)?.from),
            At::Join(join, JoinPart::Source(source)) => {
                self.joins.get(join)?.sources.get(source).copied()
            }
            At::Branch(branch) => Some(self.branch(branch)?.1),
            At::Exit(bound) => Some(*self.edge_bounds().nth(bound)?.1),
            At::Destinations(goto) => Some(self.gotos.get(goto)?.source),
            _ => None,
        }
    }

    /// Returns the target of a finding's edge.
    pub(crate) fn target(&self, at: At) -> Option<Place> {
        match at {
            At::Edge(edge) => Some(self.edges.get(edge)?.to),
            At::Join(join, _) => Some(self.joins.get(join)?.target),
            At::Exit(bound) => self.edge_bounds().nth(bound)?.0.exit,
            At::Answer {
                branch,
                arm,
                target,
            } => {
                let arm = self.branch(branch)?.0.arms.get(arm)?;
                arm.targets.get(target).copied()
            }
            At::Destination { list, target } => self.gotos.get(list)?.targets.get(target).copied(),
            _ => None,
        }
    }
}

fn info(node: &Node) -> NodeInfo {
    let mut info = NodeInfo::new(node.name.as_str());
    if node.worker.is_some() {
        info.kind = NodeKind::Worker;
    }
    info
}

/// Returns the name of the node for a path.
pub(crate) fn node_name(path: &ExprPath) -> String {
    let last = path.path.segments.last();
    last.map(|segment| segment.ident.unraw().to_string())
        .unwrap_or_default()
}
