//! Builds edges from chains: connects every stage to its predecessor.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote};
use syn::ExprPath;
use syn::ext::IdentExt as _;

use super::{
    Arm, Bound, BoundSource, Edge, Goto, Join, Map, Model, Node, Place, Slip, Switch, node_name,
};
use crate::graph::ast::{self, Stage, name_span};
use crate::graph::label::label;
use langgraph_topology::flow::{END, NODES, START};

/// The predecessor of a chain.
#[derive(Clone)]
enum Source {
    /// None.
    Nothing,
    /// One that cannot have a successor; that has been reported.
    Lost,
    /// The places before it, which what follows waits for.
    Places(Vec<Place>),
    /// The places before it, each of which is followed on its own.
    Each(Vec<Place>),
    /// An arm of the current switch.
    Arm(usize, usize),
}

/// Where a chain can continue.
#[derive(Clone, Copy)]
enum Exit {
    At(Place),
    /// It ends in a decision.
    Decided {
        at: Span,
        kind: &'static str,
    },
}

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

    fn chain(&mut self, stages: Vec<Stage>, source: Source) -> Vec<Exit> {
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

    fn place(&mut self, vertex: usize, span: Span) -> Place {
        self.places += 1;
        let mention = self.places;
        Place {
            vertex,
            span,
            mention,
        }
    }

    /// Returns the vertex of a path.
    fn mention(&mut self, path: ExprPath) -> Place {
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
    fn bound(&mut self, source: &Source, to: Place, bound: ast::BoundSyntax) {
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

    /// Returns the places before a decision, which decide for themselves; none is a mistake.
    fn deciders(&mut self, source: &Source, at: Span, kind: &'static str) -> Vec<Place> {
        let slip = match source {
            Source::Lost => return Vec::new(),
            Source::Each(places) => return places.clone(),
            Source::Places(places) => match places.as_slice() {
                [only] => return vec![*only],
                _ => Slip::DecisionAfterGroup { at, kind },
            },
            Source::Nothing => Slip::DecisionFirst {
                at,
                kind,
                arm: false,
            },
            Source::Arm(..) => Slip::DecisionFirst {
                at,
                kind,
                arm: true,
            },
        };
        self.slips.push(slip);
        Vec::new()
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

    /// Leads to a decision by its name. The first mention writes it.
    fn decision(&mut self, name: &Ident, source: &Source) -> Vec<Exit> {
        let (at, kind) = (name.span(), "a decision");
        let key = name.unraw().to_string();
        match self.named.remove(&key) {
            Some(Named::Written(switch)) => {
                let exits = self.switch(*switch, source, Some(key)).into_iter();
                exits.map(|_| Exit::Decided { at, kind }).collect()
            }
            Some(Named::Added(number)) => {
                self.named.insert(key, Named::Added(number));
                let sources = self.deciders(source, at, kind);
                let decided = !sources.is_empty();
                if let Some(switch) = self.switches.get_mut(number) {
                    for source in sources {
                        let mut known = switch.sources.iter();
                        match known.find(|known| known.vertex == source.vertex) {
                            Some(first) => self.slips.push(Slip::TwiceInList {
                                at: source.span,
                                first: first.span,
                                name: name_of(&self.nodes, source.vertex),
                            }),
                            None => switch.sources.push(source),
                        }
                    }
                }
                decided
                    .then_some(Exit::Decided { at, kind })
                    .into_iter()
                    .collect()
            }
            None => Vec::new(),
        }
    }

    fn switch(
        &mut self,
        switch: ast::SwitchSyntax,
        source: &Source,
        name: Option<String>,
    ) -> Vec<Exit> {
        let (at, kind) = (switch.keyword, switch.form.keyword());
        let sources = self.deciders(source, at, kind);
        let decided = !sources.is_empty();
        let number = self.switches.len();
        let router_text = label(switch.router.to_token_stream());
        if decided {
            if let Some(name) = name {
                self.named.insert(name, Named::Added(number));
            }
            self.switches.push(Switch {
                sources,
                keyword: at,
                form: Some(switch.form),
                router: switch.router,
                brace: Some(switch.brace),
                arms: Vec::new(),
                broken: switch.broken,
            });
        }
        for (place, arm) in switch.arms.into_iter().enumerate() {
            let asked = arm
                .asks
                .as_ref()
                .map(|asks| label(asks.router.to_token_stream()));
            let label = match (&arm.pattern, &arm.guard) {
                (Some(pattern), None) => label(pattern.to_token_stream()),
                (Some(pattern), Some((keyword, guard))) => label(quote!(#pattern #keyword #guard)),
                (None, _) if place == 0 => router_text.clone(),
                (None, _) => asked.unwrap_or_else(|| "else".to_owned()),
            };
            if !decided {
                self.chain(arm.chain.stages, Source::Lost);
                continue;
            }
            if let Some(switch) = self.switches.get_mut(number) {
                let (targets, map) = (Vec::new(), None);
                switch.arms.push(Arm {
                    label,
                    pattern: arm.pattern,
                    guard: arm.guard,
                    asks: arm.asks,
                    targets,
                    map,
                });
            }
            self.chain(arm.chain.stages, Source::Arm(number, place));
        }
        decided
            .then_some(Exit::Decided { at, kind })
            .into_iter()
            .collect()
    }

    fn goto(&mut self, goto: ast::GotoSyntax, source: &Source) -> Vec<Exit> {
        let (at, kind) = (goto.keyword, "`goto`");
        let sources = self.deciders(source, at, kind);
        let decided = !sources.is_empty();
        let mut targets = Vec::new();
        for target in goto.targets {
            match target {
                Stage::Node(path) => targets.push(self.mention(path)),
                Stage::End(path) => {
                    targets.push(self.place(END, name_span(&path)));
                    self.ends.push((END, path));
                }
                Stage::Start(path) => {
                    targets.push(self.place(START, name_span(&path)));
                    self.ends.push((START, path));
                }
                // The parser accepts nothing else in the list.
                _ => {}
            }
        }
        for source in sources {
            if source.vertex == START {
                self.slips.push(Slip::GotoAfterStart { at });
            } else {
                let targets = targets.clone();
                self.gotos.push(Goto { source, targets });
            }
        }
        decided
            .then_some(Exit::Decided { at, kind })
            .into_iter()
            .collect()
    }

    fn for_each(&mut self, each: ast::For, source: &Source) -> Vec<Exit> {
        let keyword = each.keyword;
        let pattern_text = label(each.pattern.to_token_stream());
        let items_text = label(each.items.to_token_stream());
        let Some(worker) = each.worker else {
            // It did not parse, which has been reported.
            let rest = self.chain(each.rest, Source::Lost);
            return rest;
        };
        let place = self.mention(worker.path);
        let node = place.vertex.checked_sub(NODES);
        if let Some(node) = node.and_then(|place| self.nodes.get_mut(place)) {
            node.worker.get_or_insert(place.span);
        }
        let map = |items| Map {
            keyword,
            pattern: each.pattern,
            items,
            worker: place.vertex,
            paren: worker.paren,
            item: worker.item,
        };
        if let Source::Arm(switch, arm) = source {
            let arms = self
                .switches
                .get_mut(*switch)
                .map(|switch| &mut switch.arms);
            if let Some(arm) = arms.and_then(|arms| arms.get_mut(*arm)) {
                arm.targets.push(place);
                arm.map = Some(map(Some(each.items)));
            }
            if let Some(bound) = worker.bound {
                self.bound(source, place, bound);
            }
        } else {
            let sources = self.deciders(source, keyword, "`for`");
            if sources.is_empty() {
                return self.after_map(each.rest, place);
            }
            let label = format!("for {pattern_text} in {items_text}");
            let (targets, map) = (vec![place], Some(map(None)));
            if let Some(bound) = worker.bound {
                let places = Source::Each(sources.clone());
                self.bound(&places, place, bound);
            }
            self.switches.push(Switch {
                sources,
                keyword,
                form: None,
                router: each.items,
                brace: None,
                arms: vec![Arm {
                    label,
                    pattern: None,
                    guard: None,
                    asks: None,
                    targets,
                    map,
                }],
                broken: false,
            });
        }
        self.after_map(each.rest, place)
    }

    fn after_map(&mut self, rest: Vec<Stage>, worker: Place) -> Vec<Exit> {
        if rest.is_empty() {
            return vec![Exit::At(worker)];
        }
        self.chain(rest, Source::Places(vec![worker]))
    }
}

fn name_of(nodes: &[Node], vertex: usize) -> String {
    let node = vertex.checked_sub(NODES).and_then(|place| nodes.get(place));
    node.map_or_else(|| "START".to_owned(), |node| node.name.clone())
}

/// A decision with a name.
pub(super) enum Named {
    /// As written; nothing leads to it yet.
    Written(Box<ast::SwitchSyntax>),
    /// The number of its switch.
    Added(usize),
}

/// Returns true if two paths with one last name are written alike.
fn same_path(left: &ExprPath, right: &ExprPath) -> bool {
    let text = |path: &ExprPath| path.to_token_stream().to_string();
    // Single words: the word is the last name.
    (left.path.get_ident().is_some() && right.path.get_ident().is_some())
        || text(left) == text(right)
}
