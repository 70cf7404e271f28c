//! Pictures of graphs: Mermaid text, GraphViz text, and a drawing for the terminal.
//!
//! [`Topology::draw`] starts a [`Drawing`]. Its options select what to show.
//! [`mermaid`](Drawing::mermaid), [`dot`](Drawing::dot) and [`terminal`](Drawing::terminal) print
//! it. [`embed`] puts pictures into README files and doc comments and keeps them up to date.
//!
//! A picture shows what is known of a graph before it runs:
//!
//! | Line | Meaning | Mermaid | GraphViz | Terminal |
//! |---|---|---|---|---|
//! | solid | always followed | `a --> b` | | `│` |
//! | dotted | followed if a router or the node itself chooses it; its label is the router's answer, omitted if it equals the target's name | `a -. x .-> b` | `style=dashed` | `┊` |
//! | heavy | a join: the target waits for all nodes with a heavy line to it; if it waits for several groups, each line says `with` whom | `a ==> b` | `style=bold` | `┃` |
//! | `for each` | once per item | `a -- for each --> b` | `arrowhead=normalnormal` | label |
//!
//! A reachable node without outgoing edges gets a line to `__end__`. If the answers of a router or
//! the jumps of a node are unknown, it gets a dotted line to a box named `anywhere`. Below a node's
//! name stand its metadata and its options: `defer`, `__interrupt`, `max_attempts`, `worker`,
//! `agent`.
//!
//! If a graph uses only features of Python's LangGraph, and Python draws it exactly, the Mermaid
//! text is identical byte for byte. It differs on purpose in these cases:
//!
//! - joins are heavy (Python draws ordinary edges);
//! - every line is drawn (Python keeps one of several between the same two nodes, drops an edge
//!   to `__end__` beside other edges, draws none that starts at an unreachable node, and loses
//!   frames that hold nothing but frames);
//! - no line is invented (Python connects a deferred node with whatever ran before it, and the last
//!   node of an endless loop with `__end__`);
//! - unknown routes lead to `anywhere`, and breakpoints at all nodes are marked;
//! - names that Mermaid would misread (`end`, `say "hi"`) are escaped, and subgraphs of the same
//!   name are no error;
//! - metadata is sorted by its keys.

mod dot;
pub mod embed;
mod flat;
mod mermaid;
mod picture;
mod terminal;
#[cfg(test)]
mod tests;

use flat::Flat;
use picture::Picture;

use crate::Topology;

/// A picture of a graph, for printing in one of several forms.
///
/// # Examples
///
/// ```
/// use langgraph::graph::{END, Edge, NodeInfo, START, Topology};
///
/// let mut graph = Topology::default();
/// graph.nodes.push(NodeInfo::new("greet"));
/// for (from, to) in [(START, "greet"), ("greet", END)] {
///     graph.edges.push(Edge { from: from.into(), to: to.into() });
/// }
/// let drawing = graph.draw();
///
/// assert_eq!(
///     drawing.with_styles(false).mermaid(),
///     "graph TD;\n\t__start__ --> greet;\n\tgreet --> __end__;\n",
/// );
/// assert_eq!(
///     drawing.terminal(),
///     "\
/// ╭───────────╮
/// │ __start__ │
/// ╰─────┬─────╯
///       ▼
///   ┌───────┐
///   │ greet │
///   └───┬───┘
///       ▼
///  ╭─────────╮
///  │ __end__ │
///  ╰─────────╯
/// ",
/// );
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a drawing does nothing until it is printed"]
pub struct Drawing<'a> {
    topology: &'a Topology,
    depth: usize,
    styles: bool,
}

impl Topology {
    /// Starts a picture of the graph: subgraphs closed, with styles.
    pub fn draw(&self) -> Drawing<'_> {
        Drawing {
            topology: self,
            depth: 0,
            styles: true,
        }
    }
}

impl Drawing<'_> {
    /// Opens subgraphs that many levels deep: 0 for none, `usize::MAX` for all.
    pub fn xray(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Turns styles on or off. Without them a picture shows only names and lines: no colours, no
    /// marks below the names, and in Mermaid only nodes with a line.
    pub fn with_styles(mut self, styles: bool) -> Self {
        self.styles = styles;
        self
    }

    /// Returns the picture as Mermaid text, in the form of Python's LangGraph.
    pub fn mermaid(&self) -> String {
        mermaid::render(&Flat::of(&self.picture()), self.styles)
    }

    /// Returns the picture as GraphViz text, for `dot`.
    pub fn dot(&self) -> String {
        dot::render(&self.topology.name, &Flat::of(&self.picture()), self.styles)
    }

    /// Returns the picture as text of box-drawing characters.
    ///
    /// It is as wide as the graph; lines to an opened subgraph lead to its frame.
    pub fn terminal(&self) -> String {
        terminal::render(&self.picture(), self.styles)
    }

    fn picture(&self) -> Picture {
        Picture::of(self.topology, self.depth)
    }
}
