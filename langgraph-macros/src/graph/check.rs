//! The rules of a graph: one function each, named like the finding of the builder.
//!
//! Rules never stop early, so that every mistake is told. What a graph can reach is looked at
//! only when its lines are sound: otherwise one mistake would be told many times.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;

use super::flow::{Analysis, START};
use super::model::{Edge, Model, Place, Slip};
use crate::diag::{Errors, Range};

mod reach;

/// Reports every mistake in the lines of a graph. `first` is the first token of the macro.
pub(crate) fn check(model: &Model, first: Option<Span>, broken: bool, errors: &mut Errors) {
    reserved_name(model, errors);
    duplicate_node(model, errors);
    end_as_source(model, errors);
    start_as_target(model, errors);
    start_in_join(model, errors);
    branch_end_in_group(model, errors);
    decision_in_group(model, errors);
    decision_after_group(model, errors);
    decision_first(model, errors);
    goto_after_start(model, errors);
    map_in_group(model, errors);
    worker_without_item(model, errors);
    // What could not be read may hold the missing edge.
    if !broken {
        no_entry_point(model, first, errors);
    }
    let sound = errors.is_empty();
    duplicate_edge(model, errors);
    duplicate_join_source(model, errors);
    if sound && !broken {
        let flow = model.flow();
        let analysis = Analysis::new(&flow);
        reach::empty_graph(model, errors);
        reach::unreachable_node(model, &analysis, errors);
        reach::dead_end(model, &analysis, errors);
        reach::cycle_without_exit(model, &analysis, errors);
        reach::stuck_join(model, &analysis, errors);
    }
}

/// A node has the name of START or END.
fn reserved_name(model: &Model, errors: &mut Errors) {
    for node in &model.nodes {
        if let ("__start__" | "__end__", Some(path)) = (&*node.name, node.mentions.first()) {
            let name = &node.name;
            errors.on(
                path,
                format_args!(
                    "`{name}` is reserved: give the node a name with `let other = {name};`"
                ),
            );
        }
    }
}

/// Two different paths end in one name.
fn duplicate_node(model: &Model, errors: &mut Errors) {
    for node in &model.nodes {
        let Some(first) = node.mentions.first() else {
            continue;
        };
        for clash in &node.clashes {
            let name = &node.name;
            errors.with_note(
                (
                    clash,
                    format_args!(
                        "two nodes are called `{name}`: give this one another name with \
                         `let other_{name} = …;`"
                    ),
                ),
                (first, format_args!("the first `{name}` is here")),
            );
        }
    }
}

/// Something follows END.
fn end_as_source(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::EndAsSource { at, next } = slip {
            errors.at(
                *at,
                format_args!(
                    "`END` ends a branch, so nothing can follow it: remove this edge to {next}, \
                     or put a `;` behind `END`"
                ),
            );
        }
    }
}

/// Something leads to START.
fn start_as_target(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::StartAsTarget { at } = slip {
            errors.at(
                *at,
                "`START` is where a run begins, so no edge can lead to it: for a loop, name the \
                 node to go back to",
            );
        }
    }
}

/// A group that is waited for holds START.
fn start_in_join(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::StartInJoin { at } = slip {
            errors.at(
                *at,
                "`START` cannot be waited for: give what follows an edge from `START` of its own",
            );
        }
    }
}

/// A chain in a group that is waited for ends.
fn branch_end_in_group(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::EndInGroup { at, next } = slip {
            errors.with_note(
                (
                    Range::at(*at),
                    "a branch that ends here is waited for: take it out of the group, or remove \
                     its `END`",
                ),
                (Range::at(*next), "this waits for every chain of the group"),
            );
        }
    }
}

/// A chain in a group that is waited for ends in a decision.
fn decision_in_group(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::DecisionInGroup { at, kind, next } = slip {
            errors.with_note(
                (
                    Range::at(*at),
                    format_args!(
                        "{kind} says itself where to go, so nothing can wait for it: take this \
                         chain out of the group"
                    ),
                ),
                (Range::at(*next), "this waits for every chain of the group"),
            );
        }
    }
}

/// A decision stands behind a group.
fn decision_after_group(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::DecisionAfterGroup { at, kind } = slip {
            errors.at(
                *at,
                format_args!(
                    "{kind} decides after one node, and the group before it has several: join \
                     them in a node first, as in `[a, b] => c => …`"
                ),
            );
        }
    }
}

/// A decision has no node before it.
fn decision_first(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        match slip {
            Slip::DecisionFirst {
                at,
                kind,
                arm: true,
            } => errors.at(
                *at,
                format_args!("{kind} decides after a node: let this arm lead to a node first"),
            ),
            Slip::DecisionFirst {
                at,
                kind,
                arm: false,
            } => errors.at(
                *at,
                format_args!(
                    "{kind} decides after a node: write the node, or `START`, and `=>` before it"
                ),
            ),
            _ => {}
        }
    }
}

/// START says where it goes itself.
fn goto_after_start(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::GotoAfterStart { at } = slip {
            errors.at(
                *at,
                "`goto` lists where a node may go, and `START` is none: write the edges, or a \
                 `match`",
            );
        }
    }
}

/// An arm starts tasks for items and something else.
fn map_in_group(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::MapInGroup { at } = slip {
            errors.at(
                *at,
                "a `for` in an arm stands alone: start the other nodes after it",
            );
        }
    }
}

/// A worker is reached without an item.
fn worker_without_item(model: &Model, errors: &mut Errors) {
    let edges = model.edges.iter().map(|edge| edge.to);
    let joins = model.joins.iter().map(|join| join.target);
    let arms = model.switches.iter().flat_map(|switch| &switch.arms);
    let arms = arms
        .filter(|arm| arm.map.is_none())
        .flat_map(|arm| arm.targets.iter().copied());
    for place in edges.chain(joins).chain(arms) {
        let Some(node) = model.node(place.vertex) else {
            continue;
        };
        if let Some(worker) = node.worker {
            let name = &node.name;
            errors.with_note(
                (
                    Range::at(place.span),
                    format_args!("`{name}` takes an item, and this edge has none to give"),
                ),
                (
                    Range::at(worker),
                    format_args!("`{name}` is given its items here"),
                ),
            );
        }
    }
}

/// Nothing leads away from START.
fn no_entry_point(model: &Model, first: Option<Span>, errors: &mut Errors) {
    let edges = model.edges.iter().map(|edge| edge.from.vertex);
    let mut sources = edges.chain(model.switches.iter().map(|switch| switch.source.vertex));
    // A decision that has lost its place may have stood behind START.
    let mut slips = model.slips.iter();
    if sources.any(|source| source == START)
        || slips.any(|slip| matches!(slip, Slip::DecisionFirst { arm: false, .. }))
    {
        return;
    }
    let name = model.nodes.first().map_or("a", |node| node.name.as_str());
    errors.at(
        first.unwrap_or_else(Span::call_site),
        format_args!("the graph has no entry point: begin a chain with `START => {name}`"),
    );
}

/// One edge is written twice.
fn duplicate_edge(model: &Model, errors: &mut Errors) {
    let mut edges: BTreeMap<(usize, usize), Range> = BTreeMap::new();
    for edge in &model.edges {
        let (from, to) = (model.name(edge.from.vertex), model.name(edge.to.vertex));
        twice(
            &mut edges,
            (edge.from.vertex, edge.to.vertex),
            underline(edge),
            errors,
            || format!("`{from} => {to}`"),
        );
    }
    let mut joins: BTreeMap<(Vec<usize>, usize), Range> = BTreeMap::new();
    for join in &model.joins {
        let mut sources: Vec<usize> = join.sources.iter().map(|place| place.vertex).collect();
        sources.sort_unstable();
        sources.dedup();
        let to = model.name(join.target.vertex);
        let here = Range::at(join.target.span);
        if let [only] = *sources {
            let from = model.name(only);
            twice(&mut edges, (only, join.target.vertex), here, errors, || {
                format!("`{from} => {to}`")
            });
            continue;
        }
        let mut names: Vec<&str> = Vec::new();
        for source in &join.sources {
            let name = model.name(source.vertex);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let names = names.join(", ");
        twice(
            &mut joins,
            (sources, join.target.vertex),
            here,
            errors,
            || format!("`[{names}] => {to}`"),
        );
    }
    for arm in model.switches.iter().flat_map(|switch| &switch.arms) {
        duplicate_target(model, &arm.targets, "this arm", errors);
    }
    for goto in &model.gotos {
        duplicate_target(model, &goto.targets, "this list", errors);
    }
}

fn twice<K: Ord>(
    seen: &mut BTreeMap<K, Range>,
    key: K,
    here: Range,
    errors: &mut Errors,
    edge: impl Fn() -> String,
) {
    match seen.get(&key) {
        None => {
            seen.insert(key, here);
        }
        Some(first) => errors.with_note(
            (here, format_args!("duplicate edge {}: remove one", edge())),
            (*first, format_args!("{} is first written here", edge())),
        ),
    }
}

fn duplicate_target(model: &Model, targets: &[Place], list: &str, errors: &mut Errors) {
    let mut seen: BTreeMap<usize, Span> = BTreeMap::new();
    for place in targets {
        match seen.get(&place.vertex) {
            None => {
                seen.insert(place.vertex, place.span);
            }
            Some(first) => {
                let name = model.name(place.vertex);
                errors.with_note(
                    (
                        Range::at(place.span),
                        format_args!("`{name}` is twice in {list}: remove one"),
                    ),
                    (
                        Range::at(*first),
                        format_args!("`{name}` is first written here"),
                    ),
                );
            }
        }
    }
}

/// A join names one source twice.
fn duplicate_join_source(model: &Model, errors: &mut Errors) {
    // A group that is entered and left holds its mistake twice; the edges into it come first.
    let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut entered: BTreeSet<usize> = BTreeSet::new();
    for edge in &model.edges {
        if !edges.insert((edge.from.vertex, edge.to.vertex)) {
            entered.insert(edge.to.vertex);
        }
    }
    let mut told: BTreeSet<(String, String)> = BTreeSet::new();
    for join in &model.joins {
        let mut seen: BTreeMap<usize, Span> = BTreeMap::new();
        for place in &join.sources {
            let Some(first) = seen.get(&place.vertex) else {
                seen.insert(place.vertex, place.span);
                continue;
            };
            let name = model.name(place.vertex);
            // One group can wait for several targets.
            let key = (name.to_owned(), format!("{:?}", place.span));
            if !entered.contains(&place.vertex) && told.insert(key) {
                errors.with_note(
                    (
                        Range::at(place.span),
                        format_args!("this group waits for `{name}` twice: remove one"),
                    ),
                    (
                        Range::at(*first),
                        format_args!("`{name}` is first named here"),
                    ),
                );
            }
        }
    }
}

fn underline(edge: &Edge) -> Range {
    if edge.adjacent {
        Range(edge.from.span, edge.to.span)
    } else {
        Range::at(edge.to.span)
    }
}
