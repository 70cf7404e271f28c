//! The lock of three examples, and sixty changes of them.

#![allow(dead_code, reason = "the programs run in `examples.rs`")]
#![allow(clippy::panic)] // helpers of tests are tests

#[path = "../examples/human_in_the_loop.rs"]
mod human_in_the_loop;
#[path = "../examples/parallel.rs"]
mod parallel;
#[path = "../examples/subgraph.rs"]
mod subgraph;

use langgraph::graph::lock::{self, LockError};

#[test]
fn q1_threads_of_the_examples_survive_a_deploy() -> Result<(), LockError> {
    let graphs = [
        human_in_the_loop::posts().map(|graph| graph.topology().clone()),
        parallel::work().map(|graph| graph.topology().clone()),
        subgraph::shop().map(|graph| graph.topology().clone()),
    ];
    for graph in graphs {
        lock::check("graph.lock", &graph.expect("the graph of an example"))?;
    }
    Ok(())
}

/// Changes of the lock's text that strand a thread, each with what the finding says.
const UNSAFE: [(&str, &str, &str); 40] = [
    // Nodes.
    (
        "node ask\n",
        "node approve\n",
        "wait for node `ask`, which is gone: if it is `approve` now",
    ),
    (
        "node write\n",
        "node draft\n",
        "wait for node `write`, which is gone: if it is `draft` now",
    ),
    (
        "node publish\n",
        "node release alias print\n",
        "wait for node `publish`, which is gone",
    ),
    (
        "  node discard\n",
        "",
        "wait for node `discard`, which is gone",
    ),
    (
        "node task1\n",
        "node first\n",
        "wait for node `task1`, which is gone: if it is `first` now",
    ),
    ("  node merge\n", "", "wait for node `merge`, which is gone"),
    (
        "node receive\n",
        "node accept\n",
        "wait for node `receive`, which is gone",
    ),
    (
        "node check\n",
        "node inspect\n",
        "in subgraph `warehouse`: a thread may wait for node `check`",
    ),
    (
        "    node discount\n",
        "",
        "in subgraph `pricing`: a thread may wait for node `discount`",
    ),
    (
        "node publish\n",
        "node publish worker Page\n",
        "`publish` with no item, and it takes an item of type `Page`",
    ),
    (
        "node receive\n",
        "node receive worker ?\n",
        "`receive` with no item, and it takes an item now",
    ),
    // Subgraphs.
    (
        "node pricing subgraph pricing",
        "node pricing subgraph tariffs",
        "wait in `pricing`, which node `pricing` no longer runs",
    ),
    (
        "node warehouse subgraph warehouse",
        "node warehouse subgraph depot",
        "wait in `warehouse`, which node `warehouse` no longer runs",
    ),
    (
        "node pricing subgraph pricing",
        "node tariffs subgraph pricing",
        "wait for node `pricing`, which is gone: if it is `tariffs` now",
    ),
    // Fields.
    (
        "  field approved bool\n",
        "",
        "hold field `approved`, which is gone",
    ),
    (
        "field topic String\n",
        "field subject String\n",
        "hold field `topic`, which is gone",
    ),
    (
        "field summary String\n",
        "field summary Option<String>\n",
        "hold field `summary` as `String`, and it is `Option<String>` now",
    ),
    (
        "field approved bool",
        "field approved Decision",
        "hold field `approved` as `bool`, and it is `Decision` now",
    ),
    (
        "field done Vec<String> reducer append",
        "field done BTreeSet<String> reducer union",
        "hold field `done` as `Vec<String>`",
    ),
    (
        "field done Vec<String> reducer append",
        "field done Vec<String>",
        "merged field `done` by `append`, and it is merged without a reducer now",
    ),
    (
        "field summary String\n",
        "field summary String reducer append\n",
        "merged field `summary` without a reducer, and it is merged by `append` now",
    ),
    (
        "field done Vec<String> reducer append",
        "field done Vec<String> reducer union",
        "merged field `done` by `append`, and it is merged by `union` now",
    ),
    (
        "field prices Vec<u32>",
        "field prices Vec<u64>",
        "in subgraph `pricing`: threads hold field `prices` as `Vec<u32>`",
    ),
    (
        "    field sum u32\n",
        "",
        "in subgraph `pricing`: threads hold field `sum`, which is gone",
    ),
    (
        "  state Work\n",
        "  state Job\n",
        "states of type `Work`, and the state is called `Job` now",
    ),
    (
        "  state Post\n",
        "  state Article alias Text\n",
        "states of type `Post`, and the state is called `Article` now",
    ),
    (
        "    state Pricing\n",
        "    state Tariff\n",
        "in subgraph `pricing`: threads hold states of type `Pricing`",
    ),
    // Interrupts.
    (
        "interrupt approve bool",
        "interrupt approve String",
        "for a `bool` as the answer to `approve`, and the node takes a `String` now",
    ),
    (
        "interrupt approve bool",
        "interrupt publish bool",
        "for an answer to `approve`, which the node no longer asks for",
    ),
    (
        "    interrupt approve bool\n",
        "",
        "for an answer to `approve`, which the node no longer asks for",
    ),
    // Joins.
    (
        "join task1 + task2 -> merge",
        "join task1 + task2 + task3 -> merge\n  node task3",
        "finished some of `[task1, task2]` and wait for the others to start `merge`",
    ),
    (
        "join task1 + task2 -> merge",
        "join task1 + task2 -> sort\n  node sort\n  edge sort -> merge",
        "finished some of `[task1, task2]`",
    ),
    (
        "join task1 + task2 -> merge",
        "edge task1 -> merge\n  edge task2 -> merge",
        "finished some of `[task1, task2]`",
    ),
    (
        "  join task1 + task2 -> merge\n",
        "  edge task1 -> merge\n",
        "`task2` was to reach `merge`, and cannot now",
    ),
    // Routes.
    (
        "route ask -> discard by else",
        "route ask -> __end__ by else",
        "`ask` was to reach `discard`, and cannot now",
    ),
    (
        "  route ask -> discard by else\n",
        "",
        "`ask` was to reach `discard`, and cannot now",
    ),
    (
        "edge write -> ask",
        "edge write -> publish",
        "`write` was to reach `ask`, and cannot now",
    ),
    (
        "edge receive -> warehouse\n  edge warehouse -> pricing",
        "edge receive -> pricing\n  edge pricing -> warehouse",
        "`warehouse` was to reach `pricing`, and cannot now",
    ),
    (
        "edge check -> pack",
        "edge check -> __end__",
        "in subgraph `warehouse`: a thread that waits at node `check` was to reach `pack`",
    ),
    (
        "edge add_up -> discount",
        "edge discount -> add_up",
        "in subgraph `pricing`: a thread that waits at node `add_up` was to reach `discount`",
    ),
];

/// Changes that every thread survives.
const SAFE: [(&str, &str); 20] = [
    ("node ask\n", "node approve alias ask\n"),
    ("node publish\n", "node release alias publish\n"),
    ("node task1\n", "node first alias task1\n"),
    (
        "node pricing subgraph pricing",
        "node tariffs subgraph pricing alias pricing",
    ),
    ("node discount\n", "node rebate alias discount\n"),
    (
        "edge write -> ask",
        "edge write -> check\n  node check\n  edge check -> ask",
    ),
    (
        "edge publish -> __end__",
        "edge publish -> tell\n  node tell\n  edge tell -> __end__",
    ),
    (
        "edge check -> pack",
        "edge check -> label\n    node label\n    edge label -> pack",
    ),
    (
        "route ask -> discard by else",
        "route ask -> discard by else\n  route ask -> write by again",
    ),
    (
        "route ask -> discard by else",
        "route ask -> archive by else\n  node archive\n  edge archive -> discard",
    ),
    (
        "field approved bool",
        "field approved bool\n  field by String",
    ),
    ("field topic String", "field subject String alias topic"),
    (
        "field summary String",
        "field summary String\n  field words u32 reducer add",
    ),
    ("state Work\n", "state Job alias Work\n"),
    (
        "  state Work\n  field done Vec<String> reducer append\n  field summary String",
        "  state Work version 1\n  field done BTreeSet<String> reducer union",
    ),
    (
        "  state Post\n  field approved bool",
        "  state Post version 3\n  field approved Decision",
    ),
    (
        "interrupt approve bool",
        "interrupt approve bool\n    interrupt why String",
    ),
    ("interrupt approve bool", "interrupt approve ?"),
    (
        "join task1 + task2 -> merge",
        "join task2 + task1 -> merge\n  node print\n  edge merge -> print",
    ),
    (
        "edge receive -> warehouse",
        "edge receive -> warehouse\n  edge receive -> thank\n  node thank\n  edge thank -> __end__",
    ),
];

/// Renames a node in edges, joins and routes.
fn with_renamed_mentions(text: &str, old: &str, new: &str) -> String {
    let mut renamed = String::new();
    for line in text.lines() {
        let is_edge = ["edge ", "join ", "route "]
            .iter()
            .any(|word| line.trim().starts_with(word));
        for (index, word) in line.split(' ').enumerate() {
            renamed.push_str(if index > 0 { " " } else { "" });
            renamed.push_str(if is_edge && word == old { new } else { word });
        }
        renamed.push('\n');
    }
    renamed
}

/// Returns the findings about the only graph that has that line.
fn findings(from: &str, to: &str) -> Vec<String> {
    let text = include_str!("../graph.lock");
    assert!(text.contains(from), "{from}");
    // The first of several: states of subgraphs repeat the fields of the outer one.
    let mut changed = text.replacen(from, to, 1);
    let name = |line: &str| {
        line.trim()
            .strip_prefix("node ")?
            .split_whitespace()
            .next()
            .map(str::to_owned)
    };
    if let (Some(old), Some(new)) = (name(from), name(to)) {
        changed = with_renamed_mentions(&changed, &old, &new);
    }
    let read = |text: &str| lock::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut found = Vec::new();
    for (before, mut now) in read(text).iter().zip(read(&changed)) {
        // A lock does not say whether a state converts older versions; these do.
        if let Some(state) = &mut now.state {
            state.migrates = true;
        }
        let changes = lock::breaking_changes(before, &now);
        found.extend(changes.iter().map(ToString::to_string));
    }
    found
}

#[test]
fn q1_forty_unsafe_changes_are_refused_and_twenty_safe_ones_accepted() {
    for (from, to, expected) in UNSAFE {
        let found = findings(from, to);
        assert!(
            found.iter().any(|finding| finding.contains(expected)),
            "`{from}` to `{to}`: {found:#?}"
        );
    }
    for (from, to) in SAFE {
        assert_eq!(findings(from, to), [""; 0], "`{from}` to `{to}`");
    }
}
