//! Decisions with a name: `let turn = match whose_turn { … };`.
//!
//! The same text can be ordinary Rust that selects a node. It is a decision if an arm is more than a
//! node, or if its name only ends chains: a node there would be a dead end.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ExprPath;
use syn::ext::IdentExt as _;

use super::ast::{Chain, Decision, Graph, Stage};
use crate::diag::Errors;

/// How chains mention a name.
#[derive(Default)]
struct Use {
    /// The places at the end of a chain.
    last: Vec<Ident>,
    /// The other places, where only a node can stand.
    inside: Vec<Ident>,
}

/// Takes the decisions out of the `let`s, and marks the places that lead to them.
pub(super) fn resolve(graph: &mut Graph, errors: &mut Errors) {
    let candidates = graph.lets.iter().filter(|one| one.decision.is_some());
    let names = candidates.flat_map(|one| &one.names);
    let mut uses: BTreeMap<String, Use> = names
        .map(|name| (name.unraw().to_string(), Use::default()))
        .collect();
    if uses.is_empty() {
        return;
    }
    for chain in &graph.chains {
        of_stages(&chain.stages, &mut uses);
    }
    for statement in &graph.lets {
        if let Some(switch) = &statement.decision {
            for arm in &switch.arms {
                of_stages(&arm.chain.stages, &mut uses);
            }
        }
    }
    let mut decisions = Vec::new();
    for statement in &mut graph.lets {
        let (Some(switch), Some(name)) = (statement.decision.take(), statement.names.first())
        else {
            continue;
        };
        let found = uses.remove(&name.unraw().to_string()).unwrap_or_default();
        if !switch.is_certain() && (found.last.is_empty() || !found.inside.is_empty()) {
            continue;
        }
        graph.broken |= !found.inside.is_empty();
        decision_as_node(&found.inside, errors);
        statement.statement = TokenStream::new();
        decisions.push(Decision {
            name: name.clone(),
            mentions: found.last,
            switch,
        });
    }
    let is_one = |name: &Ident| decisions.iter().any(|one| one.name.unraw() == name.unraw());
    for chain in &mut graph.chains {
        mark(chain, &is_one);
    }
    let marked: Vec<Ident> = decisions.iter().map(|one| one.name.clone()).collect();
    let is_one = |name: &Ident| marked.iter().any(|one| one.unraw() == name.unraw());
    for decision in &mut decisions {
        for arm in &mut decision.switch.arms {
            mark(&mut arm.chain, &is_one);
        }
    }
    graph.decisions = decisions;
}

fn decision_as_node(places: &[Ident], errors: &mut Errors) {
    for place in places {
        errors.on(
            place,
            format_args!(
                "`{place}` is a decision, which says itself where to go: it can only end a chain"
            ),
        );
    }
}

/// Prints the names of the decisions as variables, so that an editor can follow them.
pub(super) fn mentions(decisions: &[Decision]) -> TokenStream {
    let each = decisions.iter().map(
        |Decision { name, mentions, .. }| quote!({ let #name = (); let _ = (#(#mentions,)*); }),
    );
    each.collect()
}

/// Records the mentions of candidates.
fn of_stages(stages: &[Stage], uses: &mut BTreeMap<String, Use>) {
    for (index, stage) in stages.iter().enumerate() {
        match stage {
            Stage::Node(path) => {
                let Some(name) = path.path.get_ident() else {
                    continue;
                };
                if let Some(found) = uses.get_mut(&name.unraw().to_string()) {
                    let is_last = index > 0 && index + 1 == stages.len();
                    // In an arm, a decision without a node before it is a mistake of its own.
                    let list = if is_last || stages.len() == 1 {
                        &mut found.last
                    } else {
                        &mut found.inside
                    };
                    list.push(name.clone());
                }
            }
            Stage::AnyOf(list) => {
                for member in &list.members {
                    only_nodes(member, uses);
                }
            }
            Stage::Bounded(bounded) => {
                only_node(&bounded.node, uses);
                bounded
                    .bound
                    .exit
                    .iter()
                    .for_each(|exit| only_nodes(exit, uses));
            }
            Stage::Group(group) => {
                for chain in &group.chains {
                    of_stages(&chain.stages, uses);
                }
            }
            Stage::Switch(switch) => {
                for arm in &switch.arms {
                    of_stages(&arm.chain.stages, uses);
                }
            }
            Stage::Goto(goto) => {
                for target in &goto.targets {
                    only_nodes(target, uses);
                }
            }
            Stage::For(each) => {
                let worker = each.worker.as_ref();
                let bound = worker.and_then(|worker| worker.bound.as_ref());
                let exit = bound.and_then(|bound| bound.exit.as_ref());
                if let Some(exit) = exit {
                    only_nodes(exit, uses);
                }
                of_stages(&each.rest, uses);
            }
            Stage::Start(_) | Stage::End(_) | Stage::Named(_) => {}
        }
    }
}

/// Records a mention where only a node can stand.
fn only_nodes(stage: &Stage, uses: &mut BTreeMap<String, Use>) {
    if let Stage::Node(path) = stage {
        only_node(path, uses);
    }
}

fn only_node(path: &ExprPath, uses: &mut BTreeMap<String, Use>) {
    if let Some(name) = path.path.get_ident()
        && let Some(found) = uses.get_mut(&name.unraw().to_string())
    {
        found.inside.push(name.clone());
    }
}

/// Replaces the names of decisions at the ends of chains.
fn mark(chain: &mut Chain, is_decision: &dyn Fn(&Ident) -> bool) {
    mark_stages(&mut chain.stages, is_decision);
}

fn mark_stages(stages: &mut [Stage], is_decision: &dyn Fn(&Ident) -> bool) {
    if let Some(last) = stages.last_mut()
        && let Stage::Node(path) = last
        && let Some(name) = path.path.get_ident()
        && is_decision(name)
    {
        *last = Stage::Named(name.clone());
    }
    for stage in stages {
        match stage {
            Stage::Group(group) => {
                for chain in &mut group.chains {
                    mark(chain, is_decision);
                }
            }
            Stage::Switch(switch) => {
                for arm in &mut switch.arms {
                    mark(&mut arm.chain, is_decision);
                }
            }
            Stage::For(each) => mark_stages(&mut each.rest, is_decision),
            _ => {}
        }
    }
}
