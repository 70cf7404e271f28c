//! The rules about reachability.

use proc_macro2::Span;

use super::underline;
use crate::diag::{Errors, Range};
use crate::graph::ast::name_span;
use crate::graph::model::Model;
use langgraph_topology::Topology;
use langgraph_topology::flow::NODES;
use langgraph_topology::rules::{self, Analysis, At, Finding, JoinPart, Rule};
use langgraph_topology::similar::did_you_mean;

/// A graph without nodes.
pub(super) fn empty_graph(model: &Model, graph: &Topology, errors: &mut Errors) {
    let path = model.ends.first().map(|(_, path)| path);
    for _ in rules::empty_graph(graph) {
        errors.on(
            path,
            "the graph has no nodes: write one between `START` and `END`",
        );
    }
}

/// No path leads from START to a node.
pub(super) fn unreachable_node(model: &Model, analysis: &Analysis<'_>, errors: &mut Errors) {
    for found in rules::unreachable_node(analysis) {
        let (Rule::UnreachableNode { followers }, At::Node(node)) = (&found.rule, found.at) else {
            continue;
        };
        let name = model.name(NODES + node);
        let followers: Vec<String> = followers
            .iter()
            .map(|node| format!("`{}`", model.name(NODES + node)))
            .collect();
        let followers = match followers.as_slice() {
            [] => String::new(),
            names => format!(", and so neither can {}", names.join(", ")),
        };
        errors.at(
            first_mention(model, NODES + node),
            format_args!("`{name}` can never run{followers}: nothing leads to it from `START`"),
        );
    }
}

/// A node has no successor, not even END.
pub(super) fn dead_end(model: &Model, analysis: &Analysis<'_>, errors: &mut Errors) {
    for found in rules::dead_end(analysis) {
        let At::Node(node) = found.at else { continue };
        let mentions = model
            .nodes
            .get(node)
            .map(|node| node.mentions.as_slice())
            .unwrap_or_default();
        let at = mentions.last().map_or_else(Span::call_site, name_span);
        let name = model.name(NODES + node);
        let names = model.nodes.iter().map(|node| node.name.as_str());
        // A name that occurs once may be a misspelt other name; short names are all similar.
        let meant = did_you_mean(name, names).filter(|_| mentions.len() == 1 && name.len() > 3);
        let meant = meant.map(|other| format!("did you mean `{other}`? if not, "));
        errors.at(
            at,
            format_args!(
                "nothing follows `{name}`: {}add `=> END`, or `=>` and the next node",
                meant.unwrap_or_default()
            ),
        );
    }
}

/// A run that enters a cycle never leaves it.
pub(super) fn cycle_without_exit(model: &Model, analysis: &Analysis<'_>, errors: &mut Errors) {
    for found in rules::cycle_without_exit(analysis) {
        let Rule::CycleWithoutExit { cycle } = found.rule else {
            continue;
        };
        let cycle: Vec<usize> = cycle.into_iter().map(|node| NODES + node).collect();
        let names: Vec<&str> = cycle
            .iter()
            .chain(cycle.first())
            .map(|node| model.name(*node))
            .collect();
        errors.on(
            closing_edge(model, &cycle),
            format_args!(
                "the cycle `{}` never ends: let a `match` after one of its nodes choose between \
                 going on and `END`",
                names.join(" => ")
            ),
        );
    }
}

/// Returns the edge of a cycle back to its first node.
pub(super) fn closing_edge(model: &Model, cycle: &[usize]) -> Range {
    let (first, last) = (cycle.first().copied(), cycle.last().copied());
    let closes = |from: usize, to: usize| Some(from) == last && Some(to) == first;
    let edge = model
        .edges
        .iter()
        .find(|edge| closes(edge.from.vertex, edge.to.vertex));
    if let Some(edge) = edge {
        return underline(edge);
    }
    let joins = model.joins.iter();
    let mut joins =
        joins.flat_map(|join| join.sources.iter().map(|from| (from.vertex, join.target)));
    let arms = model.branches().flat_map(|(switch, source)| {
        let targets = switch.arms.iter().flat_map(|arm| &arm.targets);
        targets.map(|to| (source.vertex, *to))
    });
    let mut arms = arms.chain(
        model
            .gotos
            .iter()
            .flat_map(|goto| goto.targets.iter().map(|to| (goto.source.vertex, *to))),
    );
    let line = joins
        .find(|(from, to)| closes(*from, to.vertex))
        .or_else(|| arms.find(|(from, to)| closes(*from, to.vertex)));
    Range::at(line.map_or_else(
        || first.map_or_else(Span::call_site, |node| first_mention(model, node)),
        |(_, to)| to.span,
    ))
}

/// A join can never fire.
pub(super) fn stuck_join(model: &Model, analysis: &Analysis<'_>, errors: &mut Errors) {
    for found in rules::stuck_joins(analysis) {
        join_on_own_downstream(model, &found, errors);
        join_on_exclusive_arms(model, &found, errors);
    }
}

/// A join waits for a node that runs only after it.
fn join_on_own_downstream(model: &Model, found: &Finding, errors: &mut Errors) {
    let (source, target) = (model.source(found.at), model.target(found.at));
    let (Rule::JoinOnOwnDownstream, Some(at), Some(to)) = (&found.rule, source, target) else {
        return;
    };
    let (target, name) = (model.name(to.vertex), model.name(at.vertex));
    errors.with_note(
        (
            Range::at(at.span),
            format_args!("`{target}` waits for `{name}`, but `{name}` only runs after `{target}`"),
        ),
        (
            Range::at(to.span),
            format_args!("`{target}` waits for the whole group here"),
        ),
    );
}

/// A join waits for several nodes, but a decision starts only one of them.
fn join_on_exclusive_arms(model: &Model, found: &Finding, errors: &mut Errors) {
    let (Rule::JoinOnExclusiveArms { first, decision }, At::Join(join, _)) =
        (&found.rule, found.at)
    else {
        return;
    };
    let first = model.source(At::Join(join, JoinPart::Source(*first)));
    let (Some(first), Some(second), Some(to)) =
        (first, model.source(found.at), model.target(found.at))
    else {
        return;
    };
    let at = second.span;
    let decision = model.branch(*decision).map(|(switch, _)| switch);
    let (target, first, second) = (
        model.name(to.vertex),
        model.name(first.vertex),
        model.name(second.vertex),
    );
    errors.with_note(
        (
            Range::at(at),
            format_args!(
                "`{target}` waits for both `{first}` and `{second}`, but only one of them is \
                 ever started: write `{first} => {target}; {second} => {target};`"
            ),
        ),
        (
            Range::at(decision.map_or(to.span, |switch| switch.keyword)),
            "this decides between them",
        ),
    );
}

fn first_mention(model: &Model, node: usize) -> Span {
    let mentions = model.node(node).and_then(|node| node.mentions.first());
    mentions.map_or_else(Span::call_site, name_span)
}
