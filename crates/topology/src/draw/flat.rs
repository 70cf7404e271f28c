//! Flattens opened subgraphs, for formats that have edges and frames but no nested boxes.
//!
//! An edge to an opened subgraph leads to its first node; an edge from it starts at its last one.
//! Its own start and end are omitted if that loses nothing, as in Python's pictures.

use std::collections::HashSet;

use super::picture::{LineKind, Node, Picture, Role};

/// The boxes and edges of all levels.
pub(super) struct Flat<'p> {
    pub(super) nodes: Vec<FlatNode<'p>>,
    pub(super) lines: Vec<FlatLine<'p>>,
}

pub(super) struct FlatNode<'p> {
    pub(super) id: usize,
    /// The opened subgraphs that contain it, outermost first.
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
        let mut flat = Self {
            nodes: Vec::new(),
            lines: Vec::new(),
        };
        for line in &picture.lines {
            flat.lines.push(FlatLine {
                from: base + line.from,
                to: base + line.to,
                kind: line.kind,
                label: line.label.as_deref(),
            });
        }
        let mut opened = Vec::new();
        for (place, node) in picture.nodes.iter().enumerate() {
            let id = base + place;
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

    /// Returns the number behind the last id.
    pub(super) fn ids(&self) -> usize {
        let mut ids = 0;
        for node in &self.nodes {
            ids = ids.max(node.id + 1);
        }
        ids
    }

    /// Returns the only node without incoming edges.
    pub(super) fn first(&self) -> Option<usize> {
        self.first_without(None)
    }

    /// Returns the only node without outgoing edges.
    pub(super) fn last(&self) -> Option<usize> {
        self.last_without(None)
    }

    fn first_without(&self, gone: Option<usize>) -> Option<usize> {
        let mut reached = vec![false; self.ids()];
        for line in &self.lines {
            if let Some(reached) = reached.get_mut(line.to) {
                *reached |= Some(line.from) != gone;
            }
        }
        self.only_one_outside(gone, &reached)
    }

    fn last_without(&self, gone: Option<usize>) -> Option<usize> {
        let mut left = vec![false; self.ids()];
        for line in &self.lines {
            if let Some(left) = left.get_mut(line.from) {
                *left |= Some(line.to) != gone;
            }
        }
        self.only_one_outside(gone, &left)
    }

    /// Returns the only node that is not marked.
    fn only_one_outside(&self, gone: Option<usize>, marks: &[bool]) -> Option<usize> {
        let mut found = self.nodes.iter().filter(|node| {
            let marked = marks.get(node.id).copied().unwrap_or_default();
            // A graph never starts or ends at an unknown target.
            node.node.role != Role::Anywhere && Some(node.id) != gone && !marked
        });
        found
            .next()
            .filter(|_| found.next().is_none())
            .map(|node| node.id)
    }

    /// Returns the start or end of the outermost level.
    fn own(&self, role: Role) -> Option<usize> {
        let mut own = self.nodes.iter().filter(|node| node.frames.is_empty());
        own.find(|node| node.node.role == role).map(|node| node.id)
    }

    /// Removes start and end if each has only one edge, without a label.
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
    /// The names of the frames and of the node, outermost first.
    pub(super) fn path(&self) -> String {
        let mut names = self.frames.clone();
        names.push(&self.node.name);
        names.join(":")
    }
}

/// Returns `id`, or `id` with the first free number, because two names may have the same escaped
/// form.
pub(super) fn unique(id: String, taken: &mut HashSet<String>) -> String {
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
