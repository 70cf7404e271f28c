//! What the macros accept, and what they say about mistakes.
//!
//! `TRYBUILD=overwrite cargo test -p langgraph-tests --test ui` writes the messages anew.

#[path = "ui/mutations.rs"]
mod mutations;

fn cases(of: &str) {
    let cases = trybuild::TestCases::new();
    cases.pass(format!("ui/{of}/pass/*.rs"));
    cases.compile_fail(format!("ui/{of}/fail/*.rs"));
}

#[test]
fn d7_j1_mistakes_in_a_graph_are_told_at_their_place() {
    cases("graph");
}

#[test]
fn c11_mistakes_in_a_state_are_told_at_their_place() {
    cases("state");
}

#[test]
fn d4_mistakes_in_a_node_are_told_at_their_place() {
    cases("node");
}

#[test]
fn mistakes_in_a_tool_are_told_at_their_place() {
    cases("tool");
}
