//! Opened subgraphs in one plane, for formats that know lines and frames but no boxes in boxes.
//!
//! Lines to an opened subgraph lead to its first node, lines from it start at its last one.
//! Its own start and end are left out where that loses nothing; as in Python's pictures.

use std::collections::BTreeSet;

use super::picture::{Line, LineKind, Node, Picture, Role};

/// The boxes and lines of all levels.
pub(super) struct Flat<'p> {
    pub(super) nodes: Vec<FlatNode<'p>>,
    pub(super) lines: Vec<FlatLine<'p>>,
}

pub(super) struct FlatNode<'p> {
    pub(super) id: usize,
    /// The opened subgraphs around it, outermost first.
    pub(super) frames: Vec<&'p str>,
    pub(super) node: &'p Node,
}

pub(super) struct FlatLine<'p> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: LineKind,
    pub(super) label: Option<&'p str>,
}

impl<'p> Flat<'p> {
    pub(super) fn of(picture: &'p Picture) -> Self {
        Self::with_ids(picture, &mut 0)
    }

    fn with_ids(picture: &'p Picture, next_id: &mut usize) -> Self {
        let base = *next_id;
        *next_id += picture.nodes.len();
        let line = |line: &'p Line| FlatLine {
            from: base + line.from,
            to: base + line.to,
            kind: line.kind,
            label: line.label.as_deref(),
        };
        let mut flat = Self {
            nodes: Vec::new(),
            lines: picture.lines.iter().map(line).collect(),
        };
        let mut opened = Vec::new();
        for (id, node) in (base..).zip(&picture.nodes) {
            match &node.inner {
                Some(inner) => opened.push((id, &*node.name, inner)),
                None => flat.nodes.push(FlatNode {
                    id,
                    frames: Vec::new(),
                    node,
                }),
            }
        }
        for (id, name, inner) in opened {
            let mut inside = Self::with_ids(inner, next_id);
            inside.trim();
            let first = inside.first().or_else(|| inside.own(Role::Start));
            let last = inside.last().or_else(|| inside.own(Role::End));
            flat.lines.append(&mut inside.lines);
            for line in &mut flat.lines {
                if line.from == id {
                    line.from = last.unwrap_or(id);
                }
                if line.to == id {
                    line.to = first.unwrap_or(id);
                }
            }
            for mut node in inside.nodes {
                node.frames.insert(0, name);
                flat.nodes.push(node);
            }
        }
        flat
    }

    /// The one node that no line leads to.
    pub(super) fn first(&self) -> Option<usize> {
        self.first_without(None)
    }

    /// The one node that no line starts from.
    pub(super) fn last(&self) -> Option<usize> {
        self.last_without(None)
    }

    fn first_without(&self, gone: Option<usize>) -> Option<usize> {
        let lines = self.lines.iter().filter(|line| Some(line.from) != gone);
        self.only_one_outside(gone, &lines.map(|line| line.to).collect())
    }

    fn last_without(&self, gone: Option<usize>) -> Option<usize> {
        let lines = self.lines.iter().filter(|line| Some(line.to) != gone);
        self.only_one_outside(gone, &lines.map(|line| line.from).collect())
    }

    fn only_one_outside(&self, gone: Option<usize>, ids: &BTreeSet<usize>) -> Option<usize> {
        let mut found = self.nodes.iter().filter(|node| {
            // Unknown targets are no place where a graph starts or ends.
            node.node.role != Role::Anywhere && Some(node.id) != gone && !ids.contains(&node.id)
        });
        found
            .next()
            .filter(|_| found.next().is_none())
            .map(|node| node.id)
    }

    /// The start or end of the outermost level.
    fn own(&self, role: Role) -> Option<usize> {
        let mut own = self.nodes.iter().filter(|node| node.frames.is_empty());
        own.find(|node| node.node.role == role).map(|node| node.id)
    }

    /// Leaves out start and end where one line without a label is all they have.
    fn trim(&mut self) {
        let start = self.own(Role::Start).filter(|id| self.first() == Some(*id));
        if let Some(id) = start.filter(|id| self.first_without(Some(*id)).is_some()) {
            self.drop_if_plain(id);
        }
        let end = self.own(Role::End).filter(|id| self.last() == Some(*id));
        if let Some(id) = end.filter(|id| self.last_without(Some(*id)).is_some()) {
            self.drop_if_plain(id);
        }
    }

    fn drop_if_plain(&mut self, id: usize) {
        let touches = |line: &FlatLine<'_>| line.from == id || line.to == id;
        let mut lines = self.lines.iter().filter(|line| touches(line));
        if lines.next().is_some_and(|line| line.label.is_none()) && lines.next().is_none() {
            self.lines.retain(|line| !touches(line));
            self.nodes.retain(|node| node.id != id);
        }
    }
}

impl FlatNode<'_> {
    /// The names of the frames and of the node, from the outside in.
    pub(super) fn path(&self) -> String {
        let names = self.frames.iter().copied().chain([&*self.node.name]);
        names.collect::<Vec<_>>().join(":")
    }
}

/// `id`, or `id` with the first free number: two names may have been written as one text.
pub(super) fn unique(id: String, taken: &mut BTreeSet<String>) -> String {
    if taken.insert(id.clone()) {
        return id;
    }
    let mut number = 2_usize;
    loop {
        let numbered = format!("{id}_{number}");
        if taken.insert(numbered.clone()) {
            return numbered;
        }
        number += 1;
    }
}
