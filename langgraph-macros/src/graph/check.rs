//! The rules of a graph: one function each, named like the finding of the builder.
//!
//! Rules never stop early, so that every mistake is told. What a graph can reach is looked at
//! only when its lines are sound: otherwise one mistake would be told many times.

use proc_macro2::Span;

use syn::ext::IdentExt;

use super::ast::Let;
use super::model::{Edge, Model, Slip};
use crate::diag::{Errors, Range};
use langgraph_topology::flow::{Analysis, START};
use langgraph_topology::similar::did_you_mean;

mod reach;
mod twice;

/// Reports every mistake in the lines of a graph. `first` is the first token of the macro.
pub(crate) fn check(
    model: &Model,
    lets: &[Let],
    first: Option<Span>,
    broken: bool,
    errors: &mut Errors,
) {
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
    twice::Twice::new(model, errors).check();
    if !broken {
        unused_let(model, lets, errors);
    }
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

/// A `let` that nothing in the graph uses.
fn unused_let(model: &Model, lets: &[Let], errors: &mut Errors) {
    let bound = |node: &str| {
        let mut names = lets.iter().flat_map(|statement| &statement.names);
        names.any(|name| name.unraw() == node)
    };
    for name in lets.iter().flat_map(|statement| &statement.unused) {
        let text = name.unraw().to_string();
        let nodes = model.nodes.iter().map(|node| node.name.as_str());
        let nodes = nodes.filter(|node| !bound(node));
        let meant = did_you_mean(&text, nodes).filter(|_| text.len() > 3);
        let meant = meant.map(|other| format!("did you mean it by `{other}`? if not, "));
        errors.on(
            name,
            format_args!(
                "no chain names `{text}`: {}connect it, or remove this `let`",
                meant.unwrap_or_default()
            ),
        );
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

fn underline(edge: &Edge) -> Range {
    if edge.adjacent {
        Range(edge.from.span, edge.to.span)
    } else {
        Range::at(edge.to.span)
    }
}
