//! Decisions: what places lead to them, and where their arms go.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote};
use syn::ext::IdentExt as _;

use super::source::{Exit, Source};
use super::{Arm, Goto, Model, Node, Place, Slip, Switch};
use crate::graph::ast::{self, Stage, name_span};
use crate::graph::label::label;
use langgraph_topology::flow::{END, NODES, START};

/// A decision with a name.
pub(super) enum Named {
    /// As written; nothing leads to it yet.
    Written(Box<ast::SwitchSyntax>),
    /// The number of its switch.
    Added(usize),
}

impl Model {
    /// Returns the places before a decision, which decide for themselves; none is a mistake.
    pub(super) fn deciders(&mut self, source: &Source, at: Span, kind: &'static str) -> Vec<Place> {
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

    /// Leads to a decision by its name. The first mention writes it.
    pub(super) fn decision(&mut self, name: &Ident, source: &Source) -> Vec<Exit> {
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

    /// Leads to a decision that is written here.
    pub(super) fn switch(
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

    /// Lets nodes choose where to go.
    pub(super) fn goto(&mut self, goto: ast::GotoSyntax, source: &Source) -> Vec<Exit> {
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
}

fn name_of(nodes: &[Node], vertex: usize) -> String {
    let node = vertex.checked_sub(NODES).and_then(|place| nodes.get(place));
    node.map_or_else(|| "START".to_owned(), |node| node.name.clone())
}
