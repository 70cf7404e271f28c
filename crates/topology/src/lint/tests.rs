//! Lints of graphs.

use super::*;
use crate::algo::work;
use crate::testing::graph;

fn reported(text: &str) -> Vec<String> {
    lints(&graph(text))
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn ordinary_graphs_have_no_lints() {
    for text in [
        "S>a a>E",
        "S>a a>b b>c c>E",
        "S>a a?tools|E tools>a",
        "S>a a>b a>c b+c>d d>E",
        "S>a a!b|E b>a",
        "S>plan plan*write write>best best>E",
        // Branches of different lengths meet.
        "S>a a>b a>c c>c2 c2>c3 b+c3>d d>E",
        // A loop over a join: the next round fills it again.
        "S>a a>b a>c b+c>d d?a|E",
        // Two nodes in different arms, in a loop: both run eventually.
        "S>a a?b|c b+c>d d>E b>a c>a",
        // The router of a worker runs once per item.
        "S>p p*w w?b|c b+c>d d>E",
        // Both paths into the decision run, so it happens twice.
        "S>x S>y x>a y>z z>a a?b|c b+c>d d>E",
    ] {
        assert_eq!(reported(text), [""; 0], "{text}");
    }
}

#[test]
fn a16_an_unreachable_node_is_reported_once_with_what_follows_it() {
    assert_eq!(
        reported("S>a a>E x>y y>E"),
        ["`x` can never run: no edge leads to it from START, and so neither can `y`"]
    );
    // Nodes that only lead to each other.
    let lint = lints(&graph("S>a a>E x>y y>x"));
    let (node, followers) = ("x".into(), vec!["y".into()]);
    assert_eq!(lint, [Lint::UnreachableNode { node, followers }]);
}

#[test]
fn a_node_that_may_jump_anywhere_reaches_every_node() {
    assert_eq!(reported("S>a a?? x>E"), [""; 0]);
    assert_eq!(reported("S>a ~a x>E"), [""; 0]);
    // An unreachable node does not count.
    assert_eq!(reported("S>a a>E x?? y>E").len(), 2);
}

#[test]
fn a_dead_end_is_reported_once_however_much_leads_to_it() {
    assert_eq!(
        reported("S>a a>b b>c"),
        ["nothing follows `c`: add an edge to the next node, or to END"]
    );
    // An arm without targets ends the branch.
    assert_eq!(reported("S>a a?"), [""; 0]);
}

#[test]
fn a_cycle_needs_a_way_out_that_is_chosen() {
    let never = |cycle: &str| {
        format!(
            "the cycle `{cycle}` never ends: give one of its nodes a way out that it, \
             or a router, can choose"
        )
    };
    assert_eq!(reported("S>a a>b b>a"), [never("a => b => a")]);
    assert_eq!(reported("S>a a>a"), [never("a => a")]);
    // The edge to END does not prevent the edge back.
    assert_eq!(reported("S>a a>b b>a b>E"), [never("a => b => a")]);
    assert_eq!(reported("S>a a?b|c b>a c>a"), [never("a => b => a")]);
    assert_eq!(
        reported("S>a S>b a+b>c c>a c>b c>E"),
        [never("a => c => a")]
    );
    // A join that also waits for a node outside fires once.
    assert_eq!(reported("S>a S>x a+x>c c>a c>E"), [""; 0]);
    // A node that jumps does not follow its edges.
    assert_eq!(reported("S>a a>b b>a b!E"), [""; 0]);
}

#[test]
fn a_join_on_what_comes_after_it_never_fires() {
    assert_eq!(
        reported("S>a a+b>c c?b|E"),
        ["`c` waits for `b`, but `b` only runs after `c`"]
    );
    // Two joins that wait for each other.
    assert_eq!(
        reported("S>a S>b a+x>c c>y b+y>d d?x|E"),
        [
            "`c` waits for `x`, but `x` only runs after `c`",
            "`d` waits for `y`, but `y` only runs after `d`"
        ]
    );
    // Only the cause is reported, not the join that waits for the stuck one.
    assert_eq!(reported("S>a S>e a+b>c c?b|f e+f>g g>E").len(), 1);
    // Another edge starts the target first.
    assert_eq!(reported("S>a a>c a+b>c c?b|E b>E"), [""; 0]);
}

#[test]
fn a_join_on_two_arms_of_one_decision_never_fires() {
    assert_eq!(
        reported("S>a a?b|c b+c>d d>E"),
        [
            "`d` waits for both `b` and `c`, but the decision after `a` starts only one of \
          them; give each its own edge to `d`"
        ]
    );
    assert_eq!(reported("S?b|c b>b2 b2+c>d d>E").len(), 1);
    // One arm that starts both, or a second path to one of them.
    assert_eq!(reported("S>a a?b&c|E b+c>d d>E"), [""; 0]);
    assert_eq!(reported("S>a a?b|c a>c b+c>d d>E c>E"), [""; 0]);
}

#[test]
fn what_is_written_twice_is_reported() {
    assert_eq!(
        reported("S>a a>E a>E"),
        ["the edge from `a` to `__end__` is there twice; remove one"]
    );
    assert_eq!(
        reported("S>a S>b a+b>c b+a>c c>E"),
        ["the edge from `[b, a]` to `c` is there twice; remove one"]
    );
    assert_eq!(
        reported("S>a a+a>b b>E"),
        ["the edge to `b` waits for `a` twice; remove one"]
    );
}

#[test]
fn only_a_closed_graph_must_say_where_nodes_jump() {
    let mut closed = graph("S>a ~a a>E");
    assert_eq!(lints(&closed), []);
    closed.closed = true;
    assert_eq!(lints(&closed), [Lint::UndeclaredGoto { node: "a".into() }]);
}

#[test]
fn a_graph_without_nodes_is_reported() {
    assert_eq!(
        reported("S>E"),
        ["the graph has no nodes; add one between START and END"]
    );
}

#[test]
fn a_thousand_steps_take_little_work() {
    let work = |nodes: usize| {
        let mut text = String::from("S>n0 ");
        for node in 0..nodes {
            let next = if node + 1 == nodes {
                "E".to_owned()
            } else {
                format!("n{}", node + 1)
            };
            let step = [
                format!("n{node}?{next}|m{node}"),
                format!("m{node}>o{node} m{node}+o{node}>p{node} p{node}>E "),
            ];
            text += &step.join(" ");
        }
        let topology = graph(&text);
        work::of(|| assert_eq!(lints(&topology), []))
    };
    // The ways to a join grow with the graph, and are compared for each: this is less than the square.
    let (few, many) = (work(100), work(1_000));
    assert!(few > 1_000, "{few}");
    assert!(
        many < 70 * few,
        "{many} look-ups, and {few} for a tenth of the nodes"
    );
}
