//! Pictures of graphs.

mod dot;
mod flat;
mod mermaid;
mod picture;
mod terminal;
#[cfg(test)]
mod tests;

use flat::Flat;
use picture::Picture;

use super::Topology;

/// A picture of a graph, to be printed in one of several forms.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    topology: &'a Topology,
    depth: usize,
    styles: bool,
}

impl Topology {
    /// A picture of the graph.
    pub fn draw(&self) -> Drawing<'_> {
        Drawing {
            topology: self,
            depth: 0,
            styles: true,
        }
    }
}

impl Drawing<'_> {
    /// Opens subgraphs.
    pub fn xray(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Styles.
    pub fn with_styles(mut self, styles: bool) -> Self {
        self.styles = styles;
        self
    }

    /// Mermaid.
    pub fn mermaid(&self) -> String {
        let picture = Picture::of(self.topology, self.depth);
        mermaid::render(&Flat::of(&picture), self.styles)
    }

    /// DOT.
    pub fn dot(&self) -> String {
        let picture = Picture::of(self.topology, self.depth);
        dot::render(&self.topology.name, &Flat::of(&picture), self.styles)
    }

    /// Terminal.
    pub fn terminal(&self) -> String {
        terminal::render(&Picture::of(self.topology, self.depth), self.styles)
    }
}
