//! The lock of three examples, and sixty changes of them.

#![allow(dead_code, reason = "the programs run in `examples.rs`")]
#![allow(clippy::panic)] // helpers of tests are tests

#[path = "../examples/human_in_the_loop.rs"]
mod human_in_the_loop;
#[path = "../examples/parallel.rs"]
mod parallel;
#[path = "../examples/subgraph.rs"]
mod subgraph;

use std::fmt::Write as _;

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

/// Changes of the lock's text that strand a thread; `changes.txt` has what is said of each.
const UNSAFE: [(&str, &str); 40] = [
    // Nodes.
    ("node ask\n", "node approve\n"),
    ("node write\n", "node draft\n"),
    ("node publish\n", "node release alias print\n"),
    ("  node discard\n", ""),
    ("node task1\n", "node first\n"),
    ("  node merge\n", ""),
    ("node receive\n", "node accept\n"),
    ("node check\n", "node inspect\n"),
    ("    node discount\n", ""),
    ("node publish\n", "node publish worker Page\n"),
    ("node receive\n", "node receive worker ?\n"),
    // Subgraphs.
    (
        "node pricing subgraph pricing",
        "node pricing subgraph tariffs",
    ),
    (
        "node warehouse subgraph warehouse",
        "node warehouse subgraph depot",
    ),
    (
        "node pricing subgraph pricing",
        "node tariffs subgraph pricing",
    ),
    // Fields.
    ("  field approved bool\n", ""),
    ("field topic String\n", "field subject String\n"),
    ("field summary String\n", "field summary Option<String>\n"),
    ("field approved bool", "field approved Decision"),
    (
        "field done Vec<String> reducer append",
        "field done BTreeSet<String> reducer union",
    ),
    (
        "field done Vec<String> reducer append",
        "field done Vec<String>",
    ),
    (
        "field summary String\n",
        "field summary String reducer append\n",
    ),
    (
        "field done Vec<String> reducer append",
        "field done Vec<String> reducer union",
    ),
    ("field prices Vec<u32>", "field prices Vec<u64>"),
    ("    field sum u32\n", ""),
    ("  state Work\n", "  state Job\n"),
    ("  state Post\n", "  state Article alias Text\n"),
    ("    state Pricing\n", "    state Tariff\n"),
    // Interrupts.
    ("interrupt approve bool", "interrupt approve String"),
    ("interrupt approve bool", "interrupt publish bool"),
    ("    interrupt approve bool\n", ""),
    // Joins.
    (
        "join task1 + task2 -> merge",
        "join task1 + task2 + task3 -> merge\n  node task3",
    ),
    (
        "join task1 + task2 -> merge",
        "join task1 + task2 -> sort\n  node sort\n  edge sort -> merge",
    ),
    (
        "join task1 + task2 -> merge",
        "edge task1 -> merge\n  edge task2 -> merge",
    ),
    ("  join task1 + task2 -> merge\n", "  edge task1 -> merge\n"),
    // Routes.
    (
        "route ask -> discard by else",
        "route ask -> __end__ by else",
    ),
    ("  route ask -> discard by else\n", ""),
    ("edge write -> ask", "edge write -> publish"),
    (
        "edge receive -> warehouse\n  edge warehouse -> pricing",
        "edge receive -> pricing\n  edge pricing -> warehouse",
    ),
    ("edge check -> pack", "edge check -> __end__"),
    ("edge add_up -> discount", "edge discount -> add_up"),
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

/// Returns a change and what is said of it.
fn reported(from: &str, to: &str) -> String {
    let mut text = String::new();
    for (sign, lines) in [("-", from), ("+", to)] {
        for line in lines.lines() {
            let _ = writeln!(text, "{sign} {}", line.trim()); // never fails
        }
    }
    for finding in findings(from, to) {
        text.push_str(&finding);
        text.push('\n');
    }
    text
}

/// `UPDATE_EXPECT=1 cargo test` writes what is said, as it does for errors of the compiler.
#[test]
fn q1_forty_unsafe_changes_are_refused_with_what_to_do() {
    let mut text = String::new();
    for (from, to) in UNSAFE {
        let reported = reported(from, to);
        let is_refused = reported.lines().any(|line| !line.starts_with(['-', '+']));
        assert!(is_refused, "`{from}` to `{to}`");
        text.push_str(&reported);
        text.push('\n');
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/changes.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(file, &text).expect("a file that can be written");
    }
    let expected = std::fs::read_to_string(file).expect("a file of this package");
    for (said, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(said, expected);
    }
    assert_eq!(text.len(), expected.len());
}

#[test]
fn q1_twenty_safe_changes_are_accepted() {
    for (from, to) in SAFE {
        assert_eq!(findings(from, to), [""; 0], "`{from}` to `{to}`");
    }
}
