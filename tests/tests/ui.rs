//! What the macros accept, and what they say about mistakes.
//!
//! `UPDATE_EXPECT=1 cargo test -p langgraph-tests --test ui` writes the messages anew.

#![allow(clippy::unwrap_used, clippy::expect_used)] // clippy does not know that helpers of tests are tests

#[path = "ui/mutations.rs"]
mod mutations;
#[path = "ui/pass.rs"]
mod pass;
#[path = "ui/renamed.rs"]
mod renamed;
#[path = "ui/report.rs"]
mod report;
#[path = "ui/rustc.rs"]
mod rustc;
#[path = "ui/wrong.rs"]
mod wrong;

#[test]
fn d7_j1_j2_mistakes_in_a_graph_are_reported_at_their_place() {
    wrong::check("graph");
}

#[test]
fn c11_mistakes_in_a_state_are_reported_at_their_place() {
    wrong::check("state");
}

#[test]
fn d4_mistakes_in_a_node_are_reported_at_their_place() {
    wrong::check("node");
}

#[test]
fn mistakes_in_tasks_and_entrypoints_are_reported_at_their_place() {
    wrong::check("functional");
}

#[test]
fn mistakes_in_a_tool_are_reported_at_their_place() {
    wrong::check("tool");
}

/// What rustc says is compared with the program here: no mention is missing, and
/// none is reported twice. Editors rely on it, for a name that is emitted once is a name to follow.
#[test]
fn d7_every_mention_in_a_graph_is_one_name_at_its_place() {
    let name = "ui/graph/fail/every_mention_is_a_name";
    let read = |end: &str| {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(root.join(format!("{name}.{end}"))).unwrap()
    };
    let (program, expected) = (read("rs"), read("stderr"));
    let mut mentions = Vec::new();
    let graphs = program
        .lines()
        .enumerate()
        .skip_while(|(_, line)| *line != "fn main() {");
    for (number, line) in graphs {
        let mut column = 0;
        for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if word.to_lowercase().starts_with("old_") || word.starts_with("Old") {
                mentions.push(format!("{name}.rs:{}:{}", number + 1, column + 1));
            }
            column += word.len() + 1;
        }
    }
    let mut errors: Vec<&str> = expected
        .lines()
        .filter_map(|line| line.split("--> ").nth(1))
        .collect();
    // The lint level, which the first error shows.
    errors.retain(|place| !place.ends_with(":2:9"));
    errors.sort_unstable();
    mentions.sort_unstable();
    assert!(mentions.len() > 20, "{mentions:?}");
    assert_eq!(errors, mentions);
}
