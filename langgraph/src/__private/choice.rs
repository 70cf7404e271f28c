//! The decisions of `graph!`: arms, and the routers that pick one of them.

use std::marker::Send as MaySend;

use crate::graph::{Arm, NodeName, Pick, StateGraph, Test};
use crate::node::{Context, RouterRun, Send};
use crate::state::State;

/// Adds a router after each of `sources` that picks one of `arms`: label, targets, and whether the arm is a
/// map.
pub fn add_switch<'g, S: State>(
    graph: &'g mut StateGraph<S>,
    sources: &'g [&'g str],
    arms: &[(&str, &[&str], bool)],
) -> AddSwitch<'g, S> {
    let arms = arms.iter().map(|(label, targets, map)| Arm {
        label: (*label).to_owned(),
        targets: targets.iter().map(|name| NodeName::from(*name)).collect(),
        map: *map,
    });
    AddSwitch::new(graph, sources, arms.collect())
}

/// Adds a router after each of `sources` that picks one of `arms`: label and target.
pub fn add_choice<'g, S: State>(
    graph: &'g mut StateGraph<S>,
    sources: &'g [&'g str],
    arms: &[(&str, &str)],
) -> AddSwitch<'g, S> {
    let arms = arms.iter().map(|(label, target)| Arm {
        label: (*label).to_owned(),
        targets: vec![NodeName::from(*target)],
        map: false,
    });
    AddSwitch::new(graph, sources, arms.collect())
}

/// A switch without its router.
pub struct AddSwitch<'g, S: State> {
    graph: &'g mut StateGraph<S>,
    sources: &'g [&'g str],
    arms: Vec<Arm>,
    tests: Vec<Test<S>>,
}

impl<'g, S: State> AddSwitch<'g, S> {
    fn new(graph: &'g mut StateGraph<S>, sources: &'g [&'g str], arms: Vec<Arm>) -> Self {
        Self {
            graph,
            sources,
            arms,
            tests: Vec::new(),
        }
    }
}

/// Adds a router before the last one, which runs only if this one does not decide.
#[must_use = "the last router is given to `ask_last`"]
pub fn ask_first<S: State>(
    mut switch: AddSwitch<'_, S>,
    router: impl for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Option<Pick<S>>>
    + MaySend
    + Sync
    + 'static,
) -> AddSwitch<'_, S> {
    switch.tests.push(Box::new(router));
    switch
}

/// Adds the switch.
pub fn ask_last<S: State>(
    AddSwitch {
        graph,
        sources,
        arms,
        tests,
    }: AddSwitch<'_, S>,
    router: impl for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Pick<S>> + MaySend + Sync + 'static,
) {
    if tests.is_empty() {
        graph.add_switch(sources, &arms, router);
    } else {
        graph.add_switch_in_turn(sources, &arms, tests, Box::new(router));
    }
}

impl_debug!([S: State] AddSwitch<'_, S>, |switch| sources = switch.sources, arms = switch.arms);

/// Adds a function after each of `sources` that returns the items for tasks of `worker`.
pub fn add_map<'g, S: State>(
    graph: &'g mut StateGraph<S>,
    sources: &'g [&'g str],
    worker: &'g str,
) -> AddMap<'g, S> {
    AddMap {
        graph,
        sources,
        worker,
    }
}

/// A map without its function.
#[derive(Debug)]
pub struct AddMap<'g, S: State> {
    graph: &'g mut StateGraph<S>,
    sources: &'g [&'g str],
    worker: &'g str,
}

/// Adds the map.
pub fn ask_map<S: State>(
    AddMap {
        graph,
        sources,
        worker,
    }: AddMap<'_, S>,
    sends: impl for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Vec<Send<S>>> + MaySend + Sync + 'static,
) {
    graph.add_each(sources, worker, sends);
}
