//! The messages of the rules: one function each, with the name of the rule.
//!
//! `langgraph_topology` checks the rules about graphs; this module gives the findings messages and
//! tokens. Rules about the syntax of chains are only here. Rules never stop early, so every mistake
//! is reported. Reachability is checked only if the edges are sound: otherwise one mistake would be
//! reported many times.

use std::collections::BTreeMap;

use proc_macro2::Span;

use syn::ext::IdentExt;

use super::ast::Let;
use super::model::{Edge, Model, Place, Slip};
use crate::diag::{Errors, Range};
use langgraph_topology::Topology;
use langgraph_topology::flow::{END, START};
use langgraph_topology::rules::{self, Analysis, At};
use langgraph_topology::similar::did_you_mean;

mod bounds;
mod reach;
mod twice;

use bounds::{bound_of_no_edge, duplicate_bound};

/// What the rules need beside the chains.
pub(crate) struct BesideChains<'a> {
    /// The `let`s, in order.
    pub(crate) lets: &'a [Let],
    /// True if a part did not parse.
    pub(crate) broken: bool,
    /// True for `#![bounded]`.
    pub(crate) bounded: bool,
}

/// Reports every mistake in the edges of a graph. `first` is the first token of the macro.
pub(crate) fn check(
    model: &Model,
    written: &BesideChains<'_>,
    first: Option<Span>,
    errors: &mut Errors,
) {
    let (lets, broken) = (written.lets, written.broken);
    let graph = model.topology();
    reserved_name(model, &graph, errors);
    duplicate_node(model, &graph, errors);
    end_as_source(model, &graph, errors);
    start_as_target(model, &graph, errors);
    start_in_join(model, &graph, errors);
    branch_end_in_group(model, errors);
    decision_in_group(model, errors);
    decision_after_group(model, errors);
    decision_first(model, errors);
    goto_after_start(model, errors);
    map_in_group(model, errors);
    list_after_arrow(model, errors);
    bound_of_no_edge(model, errors);
    duplicate_bound(model, &graph, errors);
    twice_in_list(model, errors);
    worker_without_item(model, &graph, errors);
    // A part that did not parse may hold the missing edge.
    if !broken {
        no_entry_point(model, &graph, first, errors);
    }
    let sound = errors.is_empty();
    twice::Twice::new(model, &graph, errors).check();
    if !broken {
        unused_let(model, lets, errors);
    }
    if sound && !broken {
        let analysis = Analysis::new(&graph);
        reach::empty_graph(model, &graph, errors);
        reach::unreachable_node(model, &analysis, errors);
        reach::dead_end(model, &analysis, errors);
        reach::cycle_without_exit(model, &analysis, errors);
        reach::stuck_join(model, &analysis, errors);
        if written.bounded && errors.is_empty() {
            bounds::endless(model, &graph, &analysis, errors);
        }
    }
}

/// A node has the name of START or END.
fn reserved_name(model: &Model, graph: &Topology, errors: &mut Errors) {
    for found in rules::reserved_name(graph) {
        let At::Node(node) = found.at else { continue };
        let node = model.nodes.get(node);
        if let Some((node, path)) = node.and_then(|node| Some((node, node.mentions.first()?))) {
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
fn duplicate_node(model: &Model, graph: &Topology, errors: &mut Errors) {
    for found in rules::duplicate_node(graph) {
        let At::Node(node) = found.at else { continue };
        let Some(node) = model.nodes.get(node) else {
            continue;
        };
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

/// An edge starts at END.
fn end_as_source(model: &Model, graph: &Topology, errors: &mut Errors) {
    let found = rules::end_as_source(graph);
    for end in once(END, found.iter().filter_map(|found| model.source(found.at))) {
        let next = model.behind_end.get(&end.mention);
        let next = next.map_or("what follows", String::as_str);
        errors.at(
            end.span,
            format_args!(
                "`END` ends a branch, so nothing can follow it: remove this edge to {next}, or \
                 put a `;` behind `END`"
            ),
        );
    }
}

/// An edge leads to START.
fn start_as_target(model: &Model, graph: &Topology, errors: &mut Errors) {
    let found = rules::start_as_target(graph);
    for start in once(
        START,
        found.iter().filter_map(|found| model.target(found.at)),
    ) {
        errors.at(
            start.span,
            "`START` is where a run begins, so no edge can lead to it: for a loop, name the node \
             to go back to",
        );
    }
}

/// A group with a successor holds START.
fn start_in_join(model: &Model, graph: &Topology, errors: &mut Errors) {
    let found = rules::start_in_join(graph);
    for start in once(
        START,
        found.iter().filter_map(|found| model.source(found.at)),
    ) {
        errors.at(
            start.span,
            "`START` cannot be waited for: give what follows an edge from `START` of its own",
        );
    }
}

/// Returns the places of a vertex in the order of the text, without duplicates: an edge to a group
/// is several edges. It skips a node that only has the name of the vertex, which is reported as
/// such.
fn once(vertex: usize, places: impl Iterator<Item = Place>) -> impl Iterator<Item = Place> {
    let places = places.filter(|place| place.vertex == vertex);
    let places: BTreeMap<usize, Place> = places.map(|place| (place.mention, place)).collect();
    places.into_values()
}

/// A chain ends inside a group with a successor.
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

/// A chain inside a group with a successor ends in a decision.
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

/// A decision follows a group.
fn decision_after_group(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::DecisionAfterGroup { at, kind } = slip {
            errors.at(
                *at,
                format_args!(
                    "{kind} decides after one node, and the group before it has several: join \
                     them in a node first, as in `[a, b] => c => …`; to decide after each, write `a | b => …`"
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

/// START has a `goto`.
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

/// An arm starts a map and something else.
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

/// `|` stands after an arrow.
fn list_after_arrow(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::ListAfterArrow { at } = slip {
            errors.at(
                *at,
                "`a | b` begins a chain, and says what comes after each of them: to start several \
                 nodes, write `[a, b]`",
            );
        }
    }
}

/// A node leads to one decision, or to one list's successor, twice.
fn twice_in_list(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        if let Slip::TwiceInList { at, first, name } = slip {
            errors.with_note(
                (
                    Range::at(*at),
                    format_args!("`{name}` leads there twice: remove one"),
                ),
                (
                    Range::at(*first),
                    format_args!("`{name}` is first written here"),
                ),
            );
        }
    }
}

/// A worker is reached without an item.
fn worker_without_item(model: &Model, graph: &Topology, errors: &mut Errors) {
    for found in rules::worker_without_item(graph) {
        let Some(place) = model.target(found.at) else {
            continue;
        };
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

/// No edge starts at START.
fn no_entry_point(model: &Model, graph: &Topology, first: Option<Span>, errors: &mut Errors) {
    // A misplaced decision may belong to START.
    let mut slips = model.slips.iter();
    if rules::no_entry_point(graph).is_empty()
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
