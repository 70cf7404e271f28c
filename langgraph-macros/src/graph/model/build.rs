//! Builds edges from chains: connects every stage to its predecessor.

use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::ExprPath;

use super::{Arm, Edge, Goto, Join, Map, Model, Node, Place, Slip, Switch, node_name};
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
    /// The places before it; `joined` for a group.
    Places(Vec<Place>),
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
    pub(crate) fn new(chains: Vec<ast::Chain>) -> Self {
        let mut model = Self::default();
        for chain in chains {
            model.chain(chain.stages, Source::Nothing);
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
            Stage::Group(group) => {
                let chains = group.chains.into_iter();
                chains
                    .flat_map(|chain| self.chain(chain.stages, source.clone()))
                    .collect()
            }
            Stage::Switch(switch) => self.switch(*switch, source),
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

    /// Returns the only place before a decision.
    fn decider(&mut self, source: &Source, at: Span, kind: &'static str) -> Option<Place> {
        let slip = match source {
            Source::Lost => return None,
            Source::Places(places) => match places.as_slice() {
                [only] => return Some(*only),
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
        None
    }

    fn switch(&mut self, switch: ast::SwitchSyntax, source: &Source) -> Vec<Exit> {
        let (at, kind) = (switch.keyword, switch.form.keyword());
        let source = self.decider(source, at, kind);
        let number = self.switches.len();
        let router_text = label(switch.router.to_token_stream());
        if let Some(source) = source {
            self.switches.push(Switch {
                source,
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
            if source.is_none() {
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
        source
            .map(|_| Exit::Decided { at, kind })
            .into_iter()
            .collect()
    }

    fn goto(&mut self, goto: ast::GotoSyntax, source: &Source) -> Vec<Exit> {
        let (at, kind) = (goto.keyword, "`goto`");
        let source = self.decider(source, at, kind);
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
        match source {
            Some(source) if source.vertex == START => {
                self.slips.push(Slip::GotoAfterStart { at });
            }
            Some(source) => self.gotos.push(Goto { source, targets }),
            None => {}
        }
        source
            .map(|_| Exit::Decided { at, kind })
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
        } else if let Some(source) = self.decider(source, keyword, "`for`") {
            let label = format!("for {pattern_text} in {items_text}");
            let (targets, map) = (vec![place], Some(map(None)));
            self.switches.push(Switch {
                source,
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
        if each.rest.is_empty() {
            return vec![Exit::At(place)];
        }
        self.chain(each.rest, Source::Places(vec![place]))
    }
}

/// Returns true if two paths with one last name are written alike.
fn same_path(left: &ExprPath, right: &ExprPath) -> bool {
    let text = |path: &ExprPath| path.to_token_stream().to_string();
    // Single words: the word is the last name.
    (left.path.get_ident().is_some() && right.path.get_ident().is_some())
        || text(left) == text(right)
}
