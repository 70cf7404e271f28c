//! The contents of a graph's picture: boxes, lines and marks.
//!
//! This module alone decides *what* to draw; the renderers only decide how.

use crate::names::Names;
use crate::rules::sources;
use crate::{Arm, Breakpoints, END, NodeInfo, NodeKind, START, Topology};

/// Boxes, and lines between them. Opened subgraphs are pictures inside boxes.
#[derive(Debug)]
pub(super) struct Picture {
    /// [`START`] first, then the nodes in the order of the topology, [`END`] last.
    pub(super) nodes: Vec<Node>,
    /// Sorted by source and target; unconditional lines to [`END`] come last.
    pub(super) lines: Vec<Line>,
}

/// A box.
#[derive(Debug)]
pub(super) struct Node {
    /// The text in the box.
    pub(super) name: String,
    pub(super) role: Role,
    /// The text below the name, each as `key = value`.
    pub(super) marks: Vec<String>,
    /// The subgraph of the box, if it is opened.
    pub(super) inner: Option<Picture>,
}

/// The meaning of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Start,
    End,
    /// A target that is only known at run time.
    Anywhere,
    Node,
    Subgraph,
}

/// A line between two boxes, given by their places in [`Picture::nodes`].
#[derive(Debug)]
pub(super) struct Line {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: LineKind,
    pub(super) label: Option<String>,
}

/// The kind of a line. Several lines between the same two boxes are drawn in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineKind {
    /// Always.
    Static,
    /// Together with the other sources of the join.
    Join,
    /// Followed once per item.
    Each,
    /// Followed if code chooses it.
    Conditional,
}

/// A line between names. Lines are drawn in the order of this type.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found<'t> {
    from: &'t str,
    to: &'t str,
    kind: LineKind,
    label: Option<String>,
}

/// The name of the box for targets that are only known at run time.
const ANYWHERE: &str = "anywhere";

impl Picture {
    /// Draws `topology`, with its subgraphs opened `depth` levels deep.
    pub(super) fn of(topology: &Topology, depth: usize) -> Self {
        let found = lines_of(topology);
        let mut nodes = vec![Node::bare(START, Role::Start)];
        let mut places = Names::default();
        places.first(START, 0);
        for info in &topology.nodes {
            if places.first(&info.name, nodes.len()) == nodes.len() {
                nodes.push(Node::of(info, topology, depth));
            }
        }
        // An unchecked topology may have lines to names without a node.
        for line in &found {
            for name in [line.from, line.to] {
                let is_node = name != END && name != Found::ANYWHERE;
                if is_node && places.first(name, nodes.len()) == nodes.len() {
                    let mut node = Node::bare(name, Role::Node);
                    node.marks.push("unknown = True".to_owned());
                    nodes.push(node);
                }
            }
        }
        for (name, role) in [(Found::ANYWHERE, Role::Anywhere), (END, Role::End)] {
            if found
                .iter()
                .any(|line| line.to == name || line.from == name)
            {
                places.first(name, nodes.len());
                let label = if role == Role::End { END } else { ANYWHERE };
                nodes.push(Node::bare(label, role));
            }
        }

        let (mut lines, mut last) = (Vec::new(), Vec::new());
        for line in found {
            let (Some(from), Some(to)) = (places.get(line.from), places.get(line.to)) else {
                continue;
            };
            let ends = line.kind == LineKind::Static && line.to == END;
            let order = if ends { &mut last } else { &mut lines };
            order.push(Line {
                from,
                to,
                kind: line.kind,
                label: line.label,
            });
        }
        lines.append(&mut last);
        Self { nodes, lines }
    }

    /// Draws a subgraph. It always has an [`END`], because lines of the outer graph start from it.
    fn inside(topology: &Topology, depth: usize) -> Self {
        let mut picture = Self::of(topology, depth);
        if !picture.nodes.iter().any(|node| node.role == Role::End) {
            picture.nodes.push(Node::bare(END, Role::End));
        }
        picture
    }
}

impl Node {
    fn bare(name: &str, role: Role) -> Self {
        Self {
            name: name.to_owned(),
            role,
            marks: Vec::new(),
            inner: None,
        }
    }

    fn of(info: &NodeInfo, topology: &Topology, depth: usize) -> Self {
        let mut node = Self::bare(&info.name, Role::Node);
        node.marks = marks_of(info, topology);
        if let NodeKind::Subgraph(inner) = &info.kind {
            node.role = Role::Subgraph;
            node.inner = depth
                .checked_sub(1)
                .map(|depth| Picture::inside(inner, depth));
        }
        node
    }
}

impl Found<'_> {
    /// Marks the box of unknown targets; no node can have an empty name.
    const ANYWHERE: &'static str = "";
}

/// Returns every line of the graph, once, in order.
fn lines_of(topology: &Topology) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    for edge in &topology.edges {
        found.push(Found {
            from: &edge.from,
            to: &edge.to,
            kind: LineKind::Static,
            label: None,
        });
    }
    join_lines(topology, &mut found);
    for branch in &topology.branches {
        let from = &*branch.source;
        match &branch.arms {
            Some(arms) => arm_lines(from, arms, &mut found),
            None => anywhere_line(from, &mut found),
        }
    }
    for destinations in &topology.destinations {
        for target in &destinations.targets {
            found.push(Found {
                from: &destinations.source,
                to: target,
                kind: LineKind::Conditional,
                label: None,
            });
        }
    }
    bound_lines(topology, &mut found);
    end_lines(&mut found);
    // After the lines to END: a node that may jump may also not jump, and then its branch ends.
    for node in topology.nodes.iter().filter(|node| node.may_goto) {
        if !topology
            .destinations
            .iter()
            .any(|known| known.source == node.name)
        {
            anywhere_line(&node.name, &mut found);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn anywhere_line<'t>(from: &'t str, found: &mut Vec<Found<'t>>) {
    found.push(Found {
        from,
        to: Found::ANYWHERE,
        kind: LineKind::Conditional,
        label: None,
    });
}

fn join_lines<'t>(topology: &'t Topology, found: &mut Vec<Found<'t>>) {
    for join in &topology.joins {
        let sources = sources(join);
        // END waits for everything anyway, and a join of one node is an ordinary edge.
        let plain = sources.len() < 2 || &*join.target == END;
        // The heavy lines of a single join into a node need no label; those of several do.
        let alone = topology
            .joins
            .iter()
            .filter(|other| other.target == join.target)
            .count()
            < 2;
        for from in &sources {
            let mut others = sources.clone();
            others.retain(|name| name != from);
            found.push(Found {
                from,
                to: &join.target,
                kind: if plain {
                    LineKind::Static
                } else {
                    LineKind::Join
                },
                label: (!plain && !alone).then(|| format!("with {}", others.join(", "))),
            });
        }
    }
}

fn arm_lines<'t>(from: &'t str, arms: &'t [Arm], found: &mut Vec<Found<'t>>) {
    // A single `for` is not a decision: it happens every time.
    let alone = arms.len() == 1;
    for arm in arms {
        if arm.targets.is_empty() {
            found.push(arm_line(from, END, arm, alone));
        }
        for to in &arm.targets {
            found.push(arm_line(from, to, arm, alone));
        }
    }
}

fn arm_line<'t>(from: &'t str, to: &'t str, arm: &Arm, alone: bool) -> Found<'t> {
    let always = arm.map && alone;
    let own = Some(&*arm.label).filter(|label| !label.is_empty() && *label != to);
    let label = match (arm.map, own) {
        (false, own) => own.map(str::to_owned),
        (true, None) => Some("for each".to_owned()),
        (true, Some(own)) if always => Some(format!("for each {own}")),
        (true, Some(own)) => Some(format!("{own}: for each")),
    };
    let kind = if always {
        LineKind::Each
    } else {
        LineKind::Conditional
    };
    Found {
        from,
        to,
        kind,
        label,
    }
}

/// Labels the edges that have a bound, and adds their exits.
fn bound_lines<'t>(topology: &'t Topology, found: &mut Vec<Found<'t>>) {
    for bound in &topology.edge_bounds {
        let of_bound = |line: &&mut Found<'_>| line.from == &*bound.from && line.to == &*bound.to;
        for line in found.iter_mut().filter(of_bound) {
            line.label = Some(bound.label(line.label.as_deref()));
            // It is not followed every time.
            if line.kind == LineKind::Static {
                line.kind = LineKind::Conditional;
            }
        }
        if let Some(exit) = &bound.exit {
            found.push(Found {
                from: &bound.from,
                to: exit,
                kind: LineKind::Conditional,
                label: Some(bound.exit_label()),
            });
        }
    }
}

/// A reachable node without outgoing edges ends its branch.
fn end_lines(found: &mut Vec<Found<'_>>) {
    let mut sources = Names::default();
    for line in &*found {
        sources.first(line.from, 0);
    }
    for place in 0..found.len() {
        let Some(line) = found.get(place) else { return };
        let from = line.to;
        if from != END && from != Found::ANYWHERE && !sources.contains(from) {
            found.push(Found {
                from,
                to: END,
                kind: LineKind::Static,
                label: None,
            });
        }
    }
}

/// Returns the marks below a node's name, in the order and the words of Python's pictures.
fn marks_of(info: &NodeInfo, topology: &Topology) -> Vec<String> {
    let (mut marks, mut internal) = (Vec::new(), Vec::new());
    for (key, value) in &info.metadata {
        let is_internal = key.starts_with("__");
        let marks = if is_internal {
            &mut internal
        } else {
            &mut marks
        };
        marks.push(format!("{key} = {value}"));
    }
    if info.defer {
        marks.push("defer = True".to_owned());
    }
    let before = stops_at(&topology.interrupt_before, &info.name);
    let after = stops_at(&topology.interrupt_after, &info.name);
    let stops = match (before, after) {
        (true, true) => Some("before,after"),
        (true, false) => Some("before"),
        (false, true) => Some("after"),
        (false, false) => None,
    };
    if let Some(stops) = stops {
        marks.push(format!("__interrupt = {stops}"));
    }
    marks.append(&mut internal);
    if info.max_attempts > 1 {
        marks.push(format!("max_attempts = {}", info.max_attempts));
    }
    match &info.kind {
        NodeKind::Worker => marks.push("worker = True".to_owned()),
        NodeKind::Remote { agent } => marks.push(format!("agent = {agent}")),
        NodeKind::Function | NodeKind::Subgraph(_) => {}
    }
    marks
}

fn stops_at(breakpoints: &Breakpoints, name: &str) -> bool {
    match breakpoints {
        Breakpoints::None => false,
        Breakpoints::All => true,
        Breakpoints::Nodes(names) => names.iter().any(|stop| &**stop == name),
    }
}
