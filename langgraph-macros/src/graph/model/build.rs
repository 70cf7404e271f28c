//! Builds edges from chains: connects every stage to its predecessor.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ExprPath;
use syn::ext::IdentExt as _;

use super::decide::Named;
use super::source::{Exit, Source};
use super::{Bound, BoundSource, Edge, Join, Model, Node, Place, Slip, node_name};
use crate::graph::ast::{self, Stage, name_span};
use langgraph_topology::flow::{END, NODES, START};

impl Model {
    /// Builds the model of the parsed chains.
    pub(crate) fn new(chains: Vec<ast::Chain>, decisions: Vec<ast::Decision>) -> Self {
        let mut model = Self::default();
        for decision in decisions {
            let name = decision.name.unraw().to_string();
            model.named.insert(name, Named::Written(decision.switch));
        }
        for chain in chains {
            let mut stages = chain.stages.into_iter();
            match stages.next() {
                Some(Stage::AnyOf(list)) => {
                    let sources = model.list(list);
                    model.chain(stages.collect(), Source::Each(sources));
                }
                Some(first) => {
                    let stages = std::iter::once(first).chain(stages);
                    model.chain(stages.collect(), Source::Nothing);
                }
                None => {}
            }
        }
        for arm in model.switches.iter().flat_map(|switch| &switch.arms) {
            if let (Some(map), [_, _, ..]) = (&arm.map, arm.targets.as_slice()) {
                model.slips.push(Slip::MapInGroup { at: map.keyword });
            }
        }
        model
    }

    pub(super) fn chain(&mut self, stages: Vec<Stage>, source: Source) -> Vec<Exit> {
        let mut source = source;
        let mut exits = Vec::new();
        let mut stages = stages.into_iter().peekable();
        let mut before = None;
        while let Some(stage) = stages.next() {
            let here = (stage.span(), matches!(stage, Stage::Group(_)), stage.kind());
            exits = self.stage(stage, &source, before);
            // Two adjacent single stages: their edge can be underlined as a whole.
            before = matches!(here.2, "START" | "END" | "a node").then_some(here.0);
            if let Some(next) = stages.peek() {
                source = self.follow(&exits, here.1, next);
            }
        }
        exits
    }

    /// Returns the exits of a stage as the source of the next one.
    fn follow(&mut self, exits: &[Exit], group: bool, next: &Stage) -> Source {
        let mut places = Vec::new();
        for exit in exits {
            match *exit {
                Exit::Decided { at, kind } => {
                    let next = next.span();
                    self.slips.push(Slip::DecisionInGroup { at, kind, next });
                }
                Exit::At(place) if place.vertex == END && group => {
                    let next = next.span();
                    self.slips.push(Slip::EndInGroup {
                        at: place.span,
                        next,
                    });
                }
                Exit::At(place) if place.vertex == END => {
                    let next = match next {
                        Stage::Node(path) => format!("`{}`", node_name(path)),
                        Stage::Bounded(bounded) => format!("`{}`", node_name(&bounded.node)),
                        next => next.kind().to_owned(),
                    };
                    self.behind_end.insert(place.mention, next);
                    places.push(place);
                }
                Exit::At(place) => places.push(place),
            }
        }
        if places.is_empty() {
            Source::Lost
        } else {
            Source::Places(places)
        }
    }

    fn stage(&mut self, stage: Stage, source: &Source, before: Option<Span>) -> Vec<Exit> {
        match stage {
            Stage::Start(path) => {
                let place = self.place(START, name_span(&path));
                self.ends.push((START, path));
                self.connect(source, place, before);
                vec![Exit::At(place)]
            }
            Stage::End(path) => {
                let place = self.place(END, name_span(&path));
                self.ends.push((END, path));
                self.connect(source, place, before);
                vec![Exit::At(place)]
            }
            Stage::Node(path) => {
                let place = self.mention(path);
                self.connect(source, place, before);
                vec![Exit::At(place)]
            }
            Stage::Bounded(bounded) => {
                let place = self.mention(bounded.node);
                self.connect(source, place, before);
                self.bound(source, place, bounded.bound);
                vec![Exit::At(place)]
            }
            Stage::Group(group) => {
                let chains = group.chains.into_iter();
                chains
                    .flat_map(|chain| self.chain(chain.stages, source.clone()))
                    .collect()
            }
            Stage::AnyOf(list) => {
                self.slips.push(Slip::ListAfterArrow { at: list.bar });
                let members = list.members.into_iter();
                members
                    .flat_map(|stage| self.stage(stage, source, None))
                    .collect()
            }
            Stage::Switch(switch) => self.switch(*switch, source, None),
            Stage::Named(name) => self.decision(&name, source),
            Stage::Goto(goto) => self.goto(goto, source),
            Stage::For(each) => self.for_each(*each, source),
        }
    }

    pub(super) fn place(&mut self, vertex: usize, span: Span) -> Place {
        self.places += 1;
        let mention = self.places;
        Place {
            vertex,
            span,
            mention,
        }
    }

    /// Returns the vertex of a path.
    pub(super) fn mention(&mut self, path: ExprPath) -> Place {
        let name = node_name(&path);
        let span = name_span(&path);
        let next = NODES + self.nodes.len();
        let vertex = *self.numbers.entry(name.clone()).or_insert(next);
        let known = vertex
            .checked_sub(NODES)
            .and_then(|place| self.nodes.get_mut(place));
        match known {
            None => {
                let (mentions, clashes) = (vec![path], Vec::new());
                self.nodes.push(Node {
                    name,
                    mentions,
                    clashes,
                    worker: None,
                });
            }
            Some(node) => {
                let same = node
                    .mentions
                    .first()
                    .is_some_and(|first| same_path(first, &path));
                if same {
                    &mut node.mentions
                } else {
                    &mut node.clashes
                }
                .push(path);
            }
        }
        self.place(vertex, span)
    }

    fn connect(&mut self, source: &Source, to: Place, before: Option<Span>) {
        match source {
            Source::Nothing | Source::Lost => {}
            Source::Arm(switch, arm) => {
                let arms = self
                    .switches
                    .get_mut(*switch)
                    .map(|switch| &mut switch.arms);
                if let Some(arm) = arms.and_then(|arms| arms.get_mut(*arm)) {
                    arm.targets.push(to);
                }
            }
            Source::Each(places) => {
                let edge = |from: &Place| Edge {
                    from: *from,
                    to,
                    adjacent: false,
                };
                self.edges.extend(places.iter().map(edge));
            }
            Source::Places(places) => match places.as_slice() {
                [from] => {
                    let (from, adjacent) = (*from, before.is_some());
                    self.edges.push(Edge { from, to, adjacent });
                }
                // A join into END ends each chain.
                several if to.vertex == END && several.iter().all(|from| from.vertex != START) => {
                    let edge = |from: &Place| Edge {
                        from: *from,
                        to,
                        adjacent: false,
                    };
                    self.edges.extend(several.iter().map(edge));
                }
                several => self.joins.push(Join {
                    sources: several.to_vec(),
                    target: to,
                }),
            },
        }
    }

    /// Bounds the edges from a source to a place.
    pub(super) fn bound(&mut self, source: &Source, to: Place, bound: ast::BoundSyntax) {
        let at = bound.keyword;
        let exit = bound.exit.and_then(|exit| match exit {
            Stage::Node(path) => Some(self.mention(path)),
            Stage::Start(path) | Stage::End(path) => {
                let vertex = if node_name(&path) == "END" {
                    END
                } else {
                    START
                };
                let place = self.place(vertex, name_span(&path));
                self.ends.push((vertex, path));
                Some(place)
            }
            // The parser accepts nothing else there.
            _ => None,
        });
        let from = match source {
            Source::Lost => return,
            Source::Arm(switch, _) => BoundSource::Switch(*switch),
            Source::Each(places) => BoundSource::Places(places.clone()),
            Source::Places(places) if places.len() == 1 => BoundSource::Places(places.clone()),
            Source::Nothing | Source::Places(_) => {
                let group = matches!(source, Source::Places(_));
                self.slips.push(Slip::BoundOfNoEdge { at, group });
                return;
            }
        };
        self.bounds.push(Bound {
            from,
            to,
            keyword: at,
            at_most: bound.at_most,
            exit,
        });
    }

    /// Returns the places of a list of sources, each once.
    fn list(&mut self, list: ast::AnyOf) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for member in list.members {
            for exit in self.stage(member, &Source::Nothing, None) {
                let Exit::At(place) = exit else { continue };
                let known = places.iter().find(|known| known.vertex == place.vertex);
                if let Some(first) = known {
                    let (at, first) = (place.span, first.span);
                    let name = self.name(place.vertex).to_owned();
                    self.slips.push(Slip::TwiceInList { at, first, name });
                    continue;
                }
                if place.vertex == END {
                    self.behind_end
                        .insert(place.mention, "what follows".to_owned());
                }
                places.push(place);
            }
        }
        places
    }
}

/// Returns true if two paths with one last name are written alike.
fn same_path(left: &ExprPath, right: &ExprPath) -> bool {
    let text = |path: &ExprPath| path.to_token_stream().to_string();
    // Single words: the word is the last name.
    (left.path.get_ident().is_some() && right.path.get_ident().is_some())
        || text(left) == text(right)
}
