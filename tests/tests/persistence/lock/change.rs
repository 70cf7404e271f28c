//! Random changes of a graph.

use fastrand::Rng;
use langgraph::prelude::*;

use super::random::{Asks, Node, Spec};

/// A change of a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Rename { alias: bool },
    RemoveNode,
    InsertNode,
    AddNode,
    AddArm,
    RemoveArm,
    AddJoinSource,
    InsertAfterJoin,
    SplitJoin,
    Swap,
    Redirect,
    JoinEdge,
    Ask(Asks),
    Reorder,
}

impl Change {
    pub(super) const ALL: [Self; 17] = [
        Self::Rename { alias: true },
        Self::Rename { alias: false },
        Self::RemoveNode,
        Self::InsertNode,
        Self::AddNode,
        Self::AddArm,
        Self::RemoveArm,
        Self::AddJoinSource,
        Self::InsertAfterJoin,
        Self::SplitJoin,
        Self::Swap,
        Self::Redirect,
        Self::JoinEdge,
        Self::Ask(Asks::Flag),
        Self::Ask(Asks::Other),
        Self::Ask(Asks::Nothing),
        Self::Reorder,
    ];

    /// Returns true if every thread survives it.
    pub(super) fn is_safe(self) -> bool {
        matches!(
            self,
            Self::Rename { alias: true }
                | Self::InsertNode
                | Self::AddNode
                | Self::AddArm
                | Self::Reorder
        )
    }
}

impl Spec {
    /// Changes the graph in one way; false if it has nothing to change so.
    #[expect(clippy::too_many_lines, reason = "an arm for each change")]
    pub(super) fn change(&mut self, change: Change, rng: &mut Rng) -> bool {
        let new = format!("new{}", self.nodes.len());
        match change {
            Change::Rename { alias } => self.rename(alias, rng),
            Change::RemoveNode => self.remove_node(rng),
            Change::InsertNode => {
                let Some(edge) = choose(&mut self.edges, rng) else {
                    return false;
                };
                let target = std::mem::replace(&mut edge.1, new.clone());
                self.add(&new);
                self.edges.push((new, target));
                true
            }
            Change::AddNode => {
                let source = self.any(rng);
                self.add(&new);
                self.edges.push((source, new));
                true
            }
            Change::AddArm => {
                let Some(route) = choose(&mut self.routes, rng) else {
                    return false;
                };
                route.arms.push(Some(new.clone()));
                self.add(&new);
                true
            }
            Change::RemoveArm => {
                let Some(route) = choose(&mut self.routes, rng) else {
                    return false;
                };
                let arm = rng.usize(1..route.arms.len());
                route.arms[arm] = None;
                true
            }
            Change::AddJoinSource => {
                let first = self.nodes[0].name.clone();
                let Some(join) = choose(&mut self.joins, rng) else {
                    return false;
                };
                join.0.push(new.clone());
                self.add(&new);
                self.edges.push((first, new));
                true
            }
            Change::InsertAfterJoin => {
                let Some(join) = choose(&mut self.joins, rng) else {
                    return false;
                };
                let target = std::mem::replace(&mut join.1, new.clone());
                self.add(&new);
                self.edges.push((new, target));
                true
            }
            Change::SplitJoin => {
                if self.joins.is_empty() {
                    return false;
                }
                let (sources, target) = self.joins.swap_remove(rng.usize(..self.joins.len()));
                let edges = sources.into_iter().map(|source| (source, target.clone()));
                self.edges.extend(edges);
                true
            }
            Change::Swap => {
                let follows = |a: &(String, String), b: &(String, String)| a.1 == b.0;
                let pairs = self.edges.iter().enumerate().flat_map(|(first, a)| {
                    let seconds = self.edges.iter().enumerate();
                    let seconds = seconds.filter(move |(_, b)| follows(a, b));
                    seconds.map(move |(second, _)| (first, second))
                });
                let mut pairs: Vec<_> = pairs.collect();
                let Some((first, second)) = choose(&mut pairs, rng).copied() else {
                    return false;
                };
                let (middle, last) = self.edges[second].clone();
                self.edges[first].1.clone_from(&last);
                self.edges[second] = (last, middle);
                true
            }
            Change::Redirect => {
                let Some(edge) = choose(&mut self.edges, rng) else {
                    return false;
                };
                END.clone_into(&mut edge.1);
                true
            }
            Change::JoinEdge => {
                let Some(at) = (!self.edges.is_empty()).then(|| rng.usize(..self.edges.len()))
                else {
                    return false;
                };
                let (source, target) = self.edges[at].clone();
                let other = self.nodes[0].name.clone();
                if other == source || target == END {
                    return false;
                }
                self.edges.swap_remove(at);
                self.joins.push((vec![source, other], target));
                true
            }
            Change::Ask(asks) => {
                let mut asking = self
                    .nodes
                    .iter_mut()
                    .filter(|node| node.asks == Asks::Number);
                let Some(node) = asking.next() else {
                    return false;
                };
                node.asks = asks;
                true
            }
            Change::Reorder => {
                let first = self.nodes[0].name.clone();
                self.nodes[1..].reverse();
                debug_assert_eq!(self.nodes[0].name, first);
                true
            }
        }
    }

    fn add(&mut self, name: &str) {
        self.nodes.push(Node {
            name: name.to_owned(),
            origin: name.to_owned(),
            alias: None,
            asks: Asks::Nothing,
        });
    }

    fn any(&self, rng: &mut Rng) -> String {
        self.nodes[rng.usize(..self.nodes.len())].name.clone()
    }

    fn rename(&mut self, alias: bool, rng: &mut Rng) -> bool {
        let at = rng.usize(..self.nodes.len());
        let (old, new) = (
            self.nodes[at].name.clone(),
            format!("{}_now", self.nodes[at].name),
        );
        if self.nodes[at].alias.is_some() {
            return false;
        }
        self.nodes[at].name.clone_from(&new);
        self.nodes[at].alias = alias.then(|| old.clone());
        for name in self.mentions().filter(|name| **name == old) {
            name.clone_from(&new);
        }
        true
    }

    /// Removes a node other than the first; what led to it leads to its successor by an edge, or to END.
    fn remove_node(&mut self, rng: &mut Rng) -> bool {
        let at = rng.usize(1..self.nodes.len());
        let name = self.nodes.remove(at).name;
        let next = self.edges.iter().find(|(from, _)| *from == name);
        let next = next.map_or_else(|| END.to_owned(), |(_, to)| to.clone());
        self.edges.retain(|(from, _)| *from != name);
        self.routes.retain(|route| route.source != name);
        self.joins.retain(|(sources, _)| !sources.contains(&name));
        for mention in self.mentions().filter(|mention| **mention == name) {
            mention.clone_from(&next);
        }
        true
    }

    /// Returns the names in edges, joins and routes.
    fn mentions(&mut self) -> impl Iterator<Item = &mut String> {
        let edges = self.edges.iter_mut().flat_map(|(from, to)| [from, to]);
        let joins = self.joins.iter_mut();
        let joins = joins.flat_map(|(sources, target)| sources.iter_mut().chain([target]));
        let routes = self.routes.iter_mut();
        let routes = routes.flat_map(|route| {
            std::iter::once(&mut route.source).chain(route.arms.iter_mut().flatten())
        });
        edges.chain(joins).chain(routes)
    }
}

fn choose<'a, T>(list: &'a mut [T], rng: &mut Rng) -> Option<&'a mut T> {
    let at = (!list.is_empty()).then(|| rng.usize(..list.len()))?;
    list.get_mut(at)
}
