//! Circles of files: files of a crate that use each other, directly or through others.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{CRATES, Crate};

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Returns which module uses which. The root of a crate only shows what the modules have, and a
/// module's use of its own children is no arrow.
fn arrows(of: &Crate) -> Graph {
    let mut graph = Graph::new();
    for (module, content) in &of.modules {
        let targets = graph.entry(module.clone()).or_default();
        if module.is_empty() {
            continue;
        }
        for path in &content.uses {
            let target = nearest(of, path.clone());
            let is_below = target.starts_with(&format!("{module}::"));
            if !target.is_empty() && target != *module && !is_below {
                targets.insert(target);
            }
        }
    }
    graph
}

/// Returns the module that a path leads into.
fn nearest(of: &Crate, mut path: Vec<String>) -> String {
    while !of.modules.contains_key(&path.join("::")) {
        path.pop();
    }
    path.join("::")
}

/// Returns the modules that can be reached from `start`.
fn reached<'a>(graph: &'a Graph, start: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(module) = waiting.pop() {
        for next in &graph[module] {
            if seen.insert(next.as_str()) {
                waiting.push(next);
            }
        }
    }
    seen
}

/// Returns the groups of modules that reach each other.
fn circles(graph: &Graph) -> BTreeSet<BTreeSet<&str>> {
    let reach: BTreeMap<_, _> = graph
        .keys()
        .map(|module| (module.as_str(), reached(graph, module)))
        .collect();
    let circle = |module: &str| -> BTreeSet<&str> {
        let others = reach[module].iter().copied();
        others
            .filter(|other| reach[other].contains(module))
            .collect()
    };
    let all = graph.keys().map(|module| circle(module));
    all.filter(|circle| !circle.is_empty()).collect()
}

#[test]
fn n1_no_files_of_a_crate_form_a_circle() {
    let mut found = Vec::new();
    for of in CRATES.iter() {
        for circle in circles(&arrows(of)) {
            let files = circle.iter().map(|module| of.modules[*module].path.clone());
            found.push(files.collect::<Vec<_>>());
        }
    }
    assert!(
        found.is_empty(),
        "these files use each other; move what they share into a file below both: {found:#?}"
    );
}

#[test]
fn n1_a_circle_is_found_across_several_files() {
    let graph: Graph = [
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
        ("d", "a"),
        ("e", "e2"),
        ("e2", ""),
    ]
    .into_iter()
    .map(|(from, to)| {
        let targets = [to.to_owned()].into_iter().filter(|to| !to.is_empty());
        (from.to_owned(), targets.collect())
    })
    .collect();
    let found = circles(&graph);
    assert_eq!(found, BTreeSet::from([BTreeSet::from(["a", "b", "c"])]));
}
