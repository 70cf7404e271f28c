//! The rules about bounds.

use super::reach::closing_edge;
use crate::diag::{Errors, Range};
use crate::graph::ast::name_span;
use crate::graph::model::{Model, Slip};
use langgraph_topology::Topology;
use langgraph_topology::flow::NODES;
use langgraph_topology::rules::{self, Analysis, At, Rule};

/// A bound has no edge, or one that waits for several nodes.
pub(super) fn bound_of_no_edge(model: &Model, errors: &mut Errors) {
    for slip in &model.slips {
        let Slip::BoundOfNoEdge { at, group } = slip else {
            continue;
        };
        errors.at(
            *at,
            if *group {
                "`at_most` bounds an edge from one node, and this one waits for a group: bound an \
                 edge before the group"
            } else {
                "`at_most` bounds the edge to a node: write the node before it and `=>` first, as in \
                 `review => write at_most 5 else END`"
            },
        );
    }
}

/// An edge has two bounds.
pub(super) fn duplicate_bound(model: &Model, graph: &Topology, errors: &mut Errors) {
    for found in rules::duplicate_bound(graph) {
        let (Rule::DuplicateBound { first }, At::Exit(again)) = (found.rule, found.at) else {
            continue;
        };
        let bounds = |place: usize| model.edge_bounds().nth(place);
        if let (Some((first, _)), Some((again, from))) = (bounds(first), bounds(again)) {
            let (from, to) = (model.name(from.vertex), model.name(again.to.vertex));
            errors.with_note(
                (
                    Range::at(again.keyword),
                    format_args!(
                        "`{from} => {to}` has a bound already: it holds for every way from one to \
                         the other, so remove this one"
                    ),
                ),
                (Range::at(first.keyword), "the first bound is here"),
            );
        }
    }
}

/// Nothing bounds a loop or a map of a graph that is `#![bounded]`.
pub(super) fn endless(
    model: &Model,
    graph: &Topology,
    analysis: &Analysis<'_>,
    errors: &mut Errors,
) {
    for found in rules::endless(graph, analysis) {
        match (found.rule, found.at) {
            (Rule::EndlessCycle { cycle }, _) => {
                let mut cycle: Vec<usize> = cycle.into_iter().map(|node| NODES + node).collect();
                // The edge back leads to the node that is written first.
                let least = cycle.iter().enumerate().min_by_key(|(_, node)| **node);
                let least = least.map_or(0, |(place, _)| place);
                cycle.rotate_left(least);
                let first = cycle.first().map_or("", |node| model.name(*node));
                let names = cycle.iter().chain(cycle.first());
                let names: Vec<&str> = names.map(|node| model.name(*node)).collect();
                errors.on(
                    closing_edge(model, &cycle),
                    format_args!(
                        "nothing bounds the loop `{}`, and the graph is `#![bounded]`: write \
                         `{first} at_most 5 else END` here, with your number and exit",
                        names.join(" => ")
                    ),
                );
            }
            (Rule::EndlessMap, At::Node(node)) => {
                let Some(node) = model.nodes.get(node) else {
                    continue;
                };
                let span = node.worker.or(node.mentions.first().map(name_span));
                if let Some(span) = span {
                    let name = &node.name;
                    errors.at(
                        span,
                        format_args!(
                            "nothing bounds how many items `{name}` is given, and the graph is \
                             `#![bounded]`: write `{name}(..) at_most 10`, with your number"
                        ),
                    );
                }
            }
            _ => {}
        }
    }
}
