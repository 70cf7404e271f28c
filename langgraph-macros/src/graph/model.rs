//! The graph that the chains describe, with the place of everything in the user's text.

use std::collections::BTreeMap;

use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, ExprPath, Pat, token};

use super::ast::{self, Form, Stage, name_span};
use super::flow::{self, END, Flow, NODES, START};
use super::label::label;

/// What the chains say.
#[derive(Default)]
pub(crate) struct Model {
    /// The nodes, in the order in which they are first named.
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) joins: Vec<Join>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) gotos: Vec<Goto>,
    /// What stands where it cannot stand.
    pub(crate) slips: Vec<Slip>,
    /// START and END, wherever they are written.
    pub(crate) ends: Vec<(usize, ExprPath)>,
    numbers: BTreeMap<String, usize>,
}

/// A node, under the last name of its path.
pub(crate) struct Node {
    pub(crate) name: String,
    /// Everywhere it is named, the first at the front.
    pub(crate) mentions: Vec<ExprPath>,
    /// Other paths with the same last name.
    pub(crate) clashes: Vec<ExprPath>,
    /// Where a `for` gives it an item.
    pub(crate) worker: Option<Span>,
}

/// A vertex where it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) vertex: usize,
    pub(crate) span: Span,
}

/// `from => to`
pub(crate) struct Edge {
    pub(crate) from: Place,
    pub(crate) to: Place,
    /// True when the two stand side by side in the text.
    pub(crate) adjacent: bool,
}

/// `[source, …] => target`
pub(crate) struct Join {
    pub(crate) sources: Vec<Place>,
    pub(crate) target: Place,
}

/// A decision of a router.
pub(crate) struct Switch {
    pub(crate) source: Place,
    pub(crate) keyword: Span,
    /// `None` for a `for` on its own: one arm, whose items the router gives.
    pub(crate) form: Option<Form>,
    pub(crate) router: Expr,
    pub(crate) brace: Option<token::Brace>,
    pub(crate) arms: Vec<Arm>,
    pub(crate) broken: bool,
}

/// One answer of a router.
pub(crate) struct Arm {
    pub(crate) label: String,
    pub(crate) pattern: Option<Pat>,
    pub(crate) guard: Option<(token::If, Expr)>,
    pub(crate) targets: Vec<Place>,
    pub(crate) map: Option<Map>,
}

/// `for pattern in items { worker(item) }`
pub(crate) struct Map {
    pub(crate) keyword: Span,
    pub(crate) pattern: Pat,
    /// The items; `None` when they are the router's answer.
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

/// A stage where it cannot stand.
pub(crate) enum Slip {
    /// START behind an arrow, or in an arm.
    StartAsTarget { at: Span },
    /// END before an arrow.
    EndAsSource { at: Span, next: String },
    /// END at the end of a chain in a group that is waited for.
    EndInGroup { at: Span, next: Span },
    /// START in a group that is waited for.
    StartInJoin { at: Span },
    /// A decision at the end of a chain in a group that is waited for.
    DecisionInGroup {
        at: Span,
        kind: &'static str,
        next: Span,
    },
    /// A decision behind a group.
    DecisionAfterGroup { at: Span, kind: &'static str },
    /// A decision with nothing before it, or first in an arm.
    DecisionFirst {
        at: Span,
        kind: &'static str,
        arm: bool,
    },
    /// `goto` behind START.
    GotoAfterStart { at: Span },
    /// A `for` beside other targets of one arm.
    MapInGroup { at: Span },
}

/// Where a chain comes from.
#[derive(Clone)]
enum Source {
    /// Nothing stands before it.
    Nothing,
    /// What stands before it cannot have a follower; that has been noted.
    Lost,
    /// The places before it; `joined` when a group is.
    Places(Vec<Place>),
    /// It is an arm of a switch that is being built.
    Arm(usize, usize),
}

/// Where a chain can be followed.
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
    /// The model of what has been read.
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

    /// The name of a vertex, for a message.
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

    /// The node of a vertex.
    pub(crate) fn node(&self, vertex: usize) -> Option<&Node> {
        self.nodes.get(vertex.checked_sub(NODES)?)
    }

    /// The graph as numbers.
    pub(crate) fn flow(&self) -> Flow {
        let vertices = |places: &[Place]| places.iter().map(|place| place.vertex).collect();
        let arm = |arm: &Arm| flow::Arm {
            targets: vertices(&arm.targets),
            map: arm.map.is_some(),
        };
        let edges = self
            .edges
            .iter()
            .map(|edge| (edge.from.vertex, edge.to.vertex));
        let joins = self
            .joins
            .iter()
            .map(|join| (vertices(&join.sources), join.target.vertex));
        let branches = self.switches.iter().map(|switch| {
            (
                switch.source.vertex,
                Some(switch.arms.iter().map(arm).collect()),
            )
        });
        let gotos = self.gotos.iter();
        let gotos = gotos.map(|goto| (goto.source.vertex, Some(vertices(&goto.targets))));
        Flow {
            nodes: self.nodes.len(),
            edges: edges.collect(),
            joins: joins.collect(),
            branches: branches.collect(),
            gotos: gotos.collect(),
        }
    }

    fn chain(&mut self, stages: Vec<Stage>, source: Source) -> Vec<Exit> {
        let mut source = source;
        let mut exits = Vec::new();
        let mut stages = stages.into_iter().peekable();
        let mut before = None;
        while let Some(stage) = stages.next() {
            let here = (stage.span(), matches!(stage, Stage::Group(_)), stage.kind());
            exits = self.stage(stage, &source, before);
            // Two single stages side by side: their edge can be underlined as a whole.
            before = matches!(here.2, "START" | "END" | "a node").then_some(here.0);
            if let Some(next) = stages.peek() {
                source = self.follow(&exits, here.1, next);
            }
        }
        exits
    }

    /// The exits of a stage as the source of the next one.
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
                    self.slips.push(Slip::EndAsSource {
                        at: place.span,
                        next,
                    });
                }
                Exit::At(place) if place.vertex == START && exits.len() > 1 => {
                    self.slips.push(Slip::StartInJoin { at: place.span });
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
                let place = Place {
                    vertex: START,
                    span: name_span(&path),
                };
                self.ends.push((START, path));
                if !matches!(source, Source::Nothing) {
                    self.slips.push(Slip::StartAsTarget { at: place.span });
                }
                vec![Exit::At(place)]
            }
            Stage::End(path) => {
                let place = Place {
                    vertex: END,
                    span: name_span(&path),
                };
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

    /// The vertex that a path names.
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
                    .is_some_and(|first| text(first) == text(&path));
                if same {
                    &mut node.mentions
                } else {
                    &mut node.clashes
                }
                .push(path);
            }
        }
        Place { vertex, span }
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
                // To wait for all only to end is to end each.
                several if to.vertex == END => {
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

    /// The one place before a decision.
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

    fn switch(&mut self, switch: ast::Switch, source: &Source) -> Vec<Exit> {
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
            let label = match (&arm.pattern, &arm.guard) {
                (Some(pattern), None) => label(pattern.to_token_stream()),
                (Some(pattern), Some((keyword, guard))) => label(quote!(#pattern #keyword #guard)),
                (None, _) if place == 0 => router_text.clone(),
                (None, _) => "else".to_owned(),
            };
            let source = match source {
                None => Source::Lost,
                Some(_) => {
                    let (pattern, guard) = (arm.pattern, arm.guard);
                    let arm = Arm {
                        label,
                        pattern,
                        guard,
                        targets: Vec::new(),
                        map: None,
                    };
                    if let Some(switch) = self.switches.get_mut(number) {
                        switch.arms.push(arm);
                    }
                    Source::Arm(number, place)
                }
            };
            self.chain(arm.chain.stages, source);
        }
        source
            .map(|_| Exit::Decided { at, kind })
            .into_iter()
            .collect()
    }

    fn goto(&mut self, goto: ast::Goto, source: &Source) -> Vec<Exit> {
        let (at, kind) = (goto.keyword, "`goto`");
        let source = self.decider(source, at, kind);
        let mut targets = Vec::new();
        for target in goto.targets {
            match target {
                Stage::Node(path) => targets.push(self.mention(path)),
                Stage::End(path) => {
                    targets.push(Place {
                        vertex: END,
                        span: name_span(&path),
                    });
                    self.ends.push((END, path));
                }
                Stage::Start(path) => {
                    self.slips.push(Slip::StartAsTarget {
                        at: name_span(&path),
                    });
                    self.ends.push((START, path));
                }
                // The parser lets nothing else into the list.
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
            // It could not be read, which has been reported.
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

/// The name of the node that a path names.
pub(crate) fn node_name(path: &ExprPath) -> String {
    let last = path.path.segments.last();
    last.map(|segment| segment.ident.unraw().to_string())
        .unwrap_or_default()
}

fn text(path: &ExprPath) -> String {
    path.to_token_stream().to_string()
}
