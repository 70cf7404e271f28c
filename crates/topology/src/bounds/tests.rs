use crate::testing::graph;
use crate::{EdgeBound, NodeKind, Topology};

/// A graph whose routes are all known, with bounds: `a>b 3` or `a>b 3 c`.
fn closed(text: &str, bounds: &[&str]) -> Topology {
    let mut topology = graph(text);
    topology.closed = true;
    for text in bounds {
        let words: Vec<&str> = text.split([' ', '>']).collect();
        let bound = EdgeBound::new(words[0], words[1], words[2].parse().expect("a number"));
        topology.edge_bounds.push(match words.get(3) {
            Some(&"E") => bound.or_else(crate::END),
            Some(exit) => bound.or_else(exit),
            None => bound,
        });
    }
    topology
}

/// The supersteps, and the runs of each node, in the order of their names.
fn worst(text: &str, bounds: &[&str]) -> (u64, Vec<u64>) {
    let bounds = closed(text, bounds).bounds().expect("a bounded graph");
    (bounds.supersteps, bounds.runs.into_values().collect())
}

fn endless(text: &str, bounds: &[&str]) -> String {
    let bounds = closed(text, bounds).bounds();
    bounds.expect_err("a graph without bounds").to_string()
}

#[test]
fn without_loops_a_node_runs_once_in_each_superstep_at_which_it_is_reached() {
    assert_eq!(worst("S>a a>b b>E", &[]), (2, vec![1, 1]));
    // Both arrive together, so `d` runs once.
    assert_eq!(worst("S>a a>b a>c b>d c>d d>E", &[]), (3, vec![1, 1, 1, 1]));
    // One way is longer.
    assert_eq!(worst("S>a a>b a>c b>d c>e e>d d>E", &[]).1, [1, 1, 1, 2, 1]);
    // A router picks one of the ways.
    assert_eq!(worst("S>a a?b|c b>d c>e e>d d>E", &[]).1, [1, 1, 1, 1, 1]);
    // A join waits for both.
    assert_eq!(worst("S>a a>b a>c c>e b+e>d d>E", &[]).1, [1, 1, 1, 1, 1]);
}

#[test]
fn a_bound_counts_the_times_that_its_edge_is_followed() {
    let review = "S>a a>b b?a|c c>E";
    assert_eq!(worst(review, &["b>a 5"]), (13, vec![6, 6, 1]));
    assert_eq!(worst(review, &["b>a 5 c"]), (13, vec![6, 6, 1]));
    // Another edge of the same loop.
    let (supersteps, runs) = worst(review, &["a>b 5"]);
    assert_eq!((supersteps, &runs[..2]), (11, &[6, 5][..]));
    // A loop inside of a loop: the inner edge is bounded for the whole run.
    let nested = "S>a a>b b?b|c c?a|E";
    assert_eq!(worst(nested, &["b>b 4", "c>a 2"]), (13, vec![3, 7, 3]));
}

#[test]
fn of_two_bounds_of_a_loop_the_lower_one_limits_its_supersteps() {
    let loop_of_two = "S>a a>b b?a|E";
    assert_eq!(worst(loop_of_two, &["b>a 5"]).0, 12);
    assert_eq!(worst(loop_of_two, &["b>a 5", "a>b 900"]).0, 12);
    assert_eq!(worst(loop_of_two, &["b>a 900", "a>b 5"]).0, 11);
}

#[test]
fn a_row_that_goes_back_does_not_also_go_the_long_way() {
    // `n x n a b c d`: from `x`, nothing but the way back is long.
    let fork = "S>n n>a n>x a>b b>c c>d d>E x?n|E";
    assert_eq!(worst(fork, &["x>n 1 E"]).0, 7);
    assert_eq!(worst(fork, &["x>n 3 E"]).0, 11);
    // Through several nodes.
    let fork = "S>n n>a n>x a>b b>c c>d d>E x>y y?n|E";
    assert_eq!(worst(fork, &["y>n 1 E"]).0, 8);
}

#[test]
fn an_edge_without_a_condition_takes_its_exit_in_the_end() {
    assert_eq!(worst("S>a a>b b>a", &["b>a 3 E"]), (8, vec![4, 4]));
    assert_eq!(worst("S>a a>a c>E", &["a>a 3 c"]), (5, vec![4, 1]));
}

#[test]
fn a_deferred_node_runs_when_nothing_else_is_left() {
    let mut topology = closed("S>a a>b a>c c>e b>d e>d d>E", &[]);
    topology
        .nodes
        .iter_mut()
        .filter(|node| &*node.name == "d")
        .for_each(|node| node.defer = true);
    let bounds = topology.bounds().expect("bounds");
    assert_eq!((bounds.supersteps, bounds.runs["d"]), (4, 1));
}

#[test]
fn a_map_is_bounded_by_its_edge() {
    let topology = closed("S>a a*w w>c c>E", &["a>w 10"]);
    let bounds = topology.bounds().expect("bounds");
    assert_eq!(bounds.supersteps, 3);
    assert_eq!((bounds.runs["w"], bounds.runs["c"]), (10, 1));
    assert_eq!(
        endless("S>a a*w w>E", &[]),
        "nothing bounds how many items `w` is given; bound them, as in `w(item) at_most 10`"
    );
}

#[test]
fn decisions_that_depend_on_each_other_are_followed_together() {
    // `d` waits for nodes that never run both.
    assert_eq!(worst("S>a a?b|c b+c>d d>E", &[]), (2, vec![1, 1, 1, 0]));
    // The second run of `b` does not fill the join again.
    let join = "S>a a>b a>d b?b|E a+b>c c>E d>E";
    assert_eq!(worst(join, &["b>b 1 E"]), (3, vec![1, 2, 1, 1]));
    // Either the long way or the deferred node.
    let mut topology = closed("S>a a?b|c|d|E b>c c>E d>E", &[]);
    topology.nodes.last_mut().expect("`d`").defer = true;
    assert_eq!(topology.bounds().expect("bounds").supersteps, 3);
    // A graph with too many ways is counted by each decision.
    let branch = |node| format!(" S>n{node} n{node}?m{node}|E m{node}>E");
    let wide = (0..9).map(branch).collect::<Vec<_>>().concat();
    assert_eq!(worst(&wide, &[]).0, 2);
}

#[test]
fn subgraphs_multiply() {
    let mut inner = closed("S>x x?x|E", &["x>x 2"]);
    inner.nodes[0].calls.model = 1;
    inner.nodes[0].max_attempts = 2;
    let mut outer = closed("S>a a?a|E", &["a>a 3"]);
    outer.nodes[0].kind = NodeKind::Subgraph(Box::new(inner));
    let bounds = outer.bounds().expect("bounds");
    assert_eq!(
        (bounds.supersteps, bounds.runs["a"], bounds.runs["a:x"]),
        (4, 4, 12)
    );
    assert_eq!(bounds.calls.model, 24);

    let NodeKind::Subgraph(inner) = &mut outer.nodes[0].kind else {
        panic!("a subgraph");
    };
    inner.edge_bounds.clear();
    assert_eq!(
        outer.bounds().expect_err("a loop").to_string(),
        "in subgraph `a`: nothing bounds the loop `x => x`; bound one of its edges, as in \
         `x at_most 5 else END`"
    );
}

#[test]
fn a_loop_without_a_bound_is_the_reason() {
    assert_eq!(
        endless("S>a a>b b?a|b|E", &["b>b 2"]),
        "nothing bounds the loop `a => b => a`; bound one of its edges, as in \
         `a at_most 5 else END`"
    );
    assert!(endless("S>a a??", &[]).starts_with("`a` may go to any node"));
}

#[test]
fn a_bound_of_no_edge_and_a_second_one_are_problems() {
    let problems = |bounds: &[&str]| {
        let found = crate::problems(&closed("S>a a>b b?a|E", bounds));
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(problems(&["b>a 2 E"]), [""; 0]);
    assert_eq!(
        problems(&["a>a 2"]),
        [
            "the edge from `a` to `a` has a bound, and there is no such edge to a node; add it, or remove the bound"
        ]
    );
    assert_eq!(
        problems(&["b>a 2", "b>a 3"]),
        ["the edge from `b` to `a` has two bounds; remove one"]
    );
    assert_eq!(
        problems(&["b>a 2 x"]),
        ["an edge from `b` leads to `x`, which is no node"]
    );
}
