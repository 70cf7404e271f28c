//! Changes of a lock's text, each with all that is found.

use langgraph::graph::lock;

use super::changes;

/// Reads the lock of a graph with a node `a`, and these lines.
fn locked(lines: &str) -> langgraph::graph::Topology {
    let text = format!("graph posts\n  node a\n{lines}\n");
    let mut graphs = lock::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    graphs.remove(0)
}

/// Checks what is found of a change: each finding by its beginning, and no other.
#[track_caller]
fn found(before: &str, now: &str, expected: &[&str]) {
    let found = changes(&locked(before), &locked(now));
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expected.len(), "{before}\n{now}\n{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{before}\n{now}\n{found}");
    }
}

#[track_caller]
fn shapes(before: &str, now: &str, expected: &[&str]) {
    let of = |shape: &str| format!("    interrupt ok Decision = {shape}");
    found(&of(before), &of(now), expected);
}

#[test]
fn every_part_of_a_shape_is_compared() {
    let gone = "field `note` of `at";
    shapes(
        "{ at: Option<{ note: String }> }",
        "{ at: Option<{}> }",
        &["of which field `note` of `at` is gone"],
    );
    shapes(
        "{ at: (u8, { note: String }) }",
        "{ at: (u8, {}) }",
        &[gone],
    );
    shapes(
        "{ at: (u8, u8) }",
        "{ at: (u8, u8, u8) }",
        &["of which `at` is `(u8, u8, u8)` now, and was `(u8, u8)`"],
    );
    shapes(
        "{ at: Map<String, u8> }",
        "{ at: Map<u64, u8> }",
        &["of which `at.[]` is `u64` now, and was `String`"],
    );
    shapes("{ at: (u8, u8) }", "{ at: any }", &[]);
}

#[test]
fn a_part_that_has_another_type_is_named_also_if_the_type_is_called_otherwise() {
    found(
        "    interrupt ok Decision = { at: u8 }",
        "    interrupt ok Verdict = { at: String }",
        &["for a `Decision` as the answer to `ok`, of which `at` is `String` now, and was `u8`"],
    );
    found(
        "    interrupt ok Decision = { at: u8 }",
        "    interrupt ok Verdict = enum { At(u8) }",
        &["for a `Decision` as the answer to `ok`, and the node takes a `Verdict` now"],
    );
}

#[test]
fn what_is_not_known_is_not_compared() {
    found("    interrupt ? bool", "    interrupt ? String", &[]);
    found("    interrupt ok ?", "    interrupt ok bool", &[]);
    found("    interrupt ok bool", "    interrupt ok ?", &[]);
    found("  field x ?", "  field x u8", &[]);
    found("  field x u8", "  field x ?", &[]);
    found("  field x u8 reducer ?", "  field x u8 reducer add", &[]);
    found("  node b worker ?", "  node b worker Page", &[]);
    found("  node b worker Page", "  node b worker ?", &[]);
}

#[test]
fn a_key_is_that_of_its_kind() {
    found(
        "    interrupt ok bool",
        "    once ok bool",
        &["for an answer to `ok`, which the node no longer asks for"],
    );
    found(
        "    approval pay ToolDecision",
        "    interrupt pay ToolDecision",
        &["for the approval of a call of `pay`, which the node no longer asks for"],
    );
}

#[test]
fn former_names_are_kept() {
    found(
        "  state Post alias Text",
        "  state Post",
        &["threads hold states of type `Text`, and the state is called `Post` now"],
    );
    found(
        "  field text String alias body",
        "  field text String",
        &["threads hold field `body`, which is gone"],
    );
}

#[test]
fn one_change_is_one_finding() {
    // A field with another type, whose shape differs too.
    found(
        "  field plan Plan = { steps: u8 }",
        "  field plan Draft = { days: u8 }",
        &["threads hold field `plan` as `Plan`, and it is `Draft` now"],
    );
    // What a subgraph of another name has inside is another one.
    found(
        "  node b subgraph inner\n    node c",
        "  node b subgraph other\n    node d",
        &["a thread may wait in `inner`, which node `b` no longer runs"],
    );
    found(
        "  node b subgraph inner\n    node c",
        "  node b worker Page",
        &["a thread may wait in `inner`, which node `b` no longer runs"],
    );
    // A source that is renamed, and a join that has changed, are no ways that are gone.
    let join = "  node b\n  node c\n  join a + b -> c";
    found(
        join,
        "  node d\n  node c\n  join a + d -> c",
        &["a thread may wait for node `b`, which is gone: if it is `d` now"],
    );
    found(
        join,
        "  node b\n  node c\n  edge a -> c",
        &["a thread may have finished some of `[a, b]` and wait for the others to start `c`"],
    );
}

#[test]
fn a_node_that_has_an_alias_already_is_not_offered_for_another() {
    found(
        "  node b\n  node c",
        "  node d alias b",
        &["a thread may wait for node `c`, which is gone: if another node has taken its place"],
    );
}

#[test]
fn a_join_that_starts_nothing_may_go() {
    let nodes = "  node b\n  edge a -> b";
    found(&format!("{nodes}\n  join a + b -> __end__"), nodes, &[]);
}

#[test]
fn jumps_and_exits_of_bounds_are_ways_too() {
    let nodes = "  node b\n  node c\n  edge a -> b";
    let gone = "a thread that waits at node `a` was to reach `c`, and cannot now";
    found(&format!("{nodes}\n  goto a -> b & c"), nodes, &[gone]);
    let bound = format!("{nodes}\n  bound a -> b at_most 3");
    found(&format!("{bound} else c"), &bound, &[gone]);
    found(&bound, nodes, &[]);
    found(nodes, &format!("{bound} else c"), &[]);
    // A node that declares where it may jump does not jump elsewhere.
    let before = locked(&format!("{nodes}\n  goto a -> b & c"));
    let mut now = locked(&format!("{nodes}\n  goto a -> b"));
    now.nodes[0].may_goto = true;
    assert_eq!(changes(&before, &now).len(), 1);
    now.destinations.clear();
    assert_eq!(changes(&before, &now), []);
}

/// A field whose name is no word of a shape.
#[derive(serde::Deserialize)]
#[allow(dead_code, reason = "it is read")]
struct Titled {
    #[serde(rename = "the title")]
    title: String,
}

/// A variant whose name is no word of a shape.
#[derive(serde::Deserialize)]
#[allow(dead_code, reason = "it is read")]
enum Kind {
    #[serde(rename = "a post")]
    Post,
}

#[test]
fn a_shape_is_written_only_if_it_can_be_read_and_says_more_than_the_type() {
    use langgraph::graph::{KeyInfo, KeyKind};

    let key = || KeyInfo::new("ok", KeyKind::Interrupt);
    assert_eq!(key().shaped::<Titled>().shape, "");
    assert_eq!(key().shaped::<Kind>().shape, "");
    assert_eq!(key().shaped::<Vec<usize>>().shape, "");
    for text in ["{ a: u8 b: u8 }", "u8 u8", "Vec<u8, u8>"] {
        let line = format!("graph posts\n  node a\n    interrupt ok X = {text}");
        assert!(lock::read(&line).is_err(), "{text}");
    }
}
