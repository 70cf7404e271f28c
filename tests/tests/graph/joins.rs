//! Edges that wait for several nodes.

use langgraph::prelude::*;

use langgraph_tests::fixtures::trail::{Trail, assert_visits, turn, visit, visiting, wire, wired};

#[tokio::test]
async fn b8_branches_of_one_length_are_merged_once() {
    let plain = wired(&["a", "b", "merge"], "^>a ^>b a>merge b>merge");
    let waiting = wired(&["a", "b", "merge"], "^>a ^>b a,b>merge");
    let (a, b, merge) = (visit, visit, visit);
    let by_macro = graph! { START => [a, b] => merge => END };
    assert_visits([plain, waiting, by_macro], "a@1 b@1 merge@2").await;
}

#[tokio::test]
async fn b9_branches_of_length_one_and_three_are_waited_for() {
    let graph = wired(
        &["short", "l1", "l2", "l3", "last"],
        "^>short ^>l1 l1>l2 l2>l3 short,l3>last last>$",
    );
    let (short, l1, l2, l3, last) = (visit, visit, visit, visit, visit);
    let by_macro = graph! { START => [short, l1 => l2 => l3] => last => END };
    assert_visits([graph, by_macro], "short@1 l1@1 l2@2 l3@3 last@4").await;
}

#[tokio::test]
async fn b9_three_branches_of_three_lengths() {
    let graph = wired(
        &["a", "b1", "b2", "c1", "c2", "c3", "end"],
        "^>a ^>b1 ^>c1 b1>b2 c1>c2 c2>c3 a,b2,c3>end",
    );
    let (a, b1, b2, c1, c2, c3, end) = (visit, visit, visit, visit, visit, visit, visit);
    let by_macro = graph! { START => [a, b1 => b2, c1 => c2 => c3] => end => END };
    let expected = "a@1 b1@1 c1@1 b2@2 c2@2 c3@3 end@4";
    // The graph declares nodes in another order than the macro meets them.
    assert_visits([graph, by_macro], expected).await;
}

#[tokio::test]
async fn a_join_in_a_loop_fires_once_per_round() {
    let again = |state: &Trail| state.round < 3;
    let mut graph = visiting(&["a", "b1", "b2"]);
    graph.add_node("check", turn);
    wire(&mut graph, "^>a ^>b1 b1>b2 a,b2>check");
    graph.add_router("check", move |state: &Trail| {
        if again(state) {
            vec!["a", "b1"]
        } else {
            vec![]
        }
    });
    let (a, b1, b2, check) = (visit, visit, visit, turn);
    let by_macro = graph! {
        START => [a, b1 => b2] => check => if again { [a, b1] } else { END };
    };
    assert_visits(
        [graph, by_macro],
        "a@1 b1@1 b2@2 check@3 a@4 b1@4 b2@5 check@6 a@7 b1@7 b2@8 check@9",
    )
    .await;
}

#[tokio::test]
async fn a_join_behind_a_conditional_waits_until_all_have_come() {
    // The first round takes the left arm, the second the right one; together they fill the join.
    let mut graph = visiting(&["left", "right", "both"]);
    graph.add_node("choose", turn);
    wire(&mut graph, "^>choose left>choose left,right>both");
    graph.add_conditional_edges(
        "choose",
        |state: &Trail| if state.round == 1 { "l" } else { "r" },
        [("l", "left"), ("r", "right")],
    );
    assert_visits([graph], "choose@1 left@2 choose@3 right@4 both@5").await;
}

#[tokio::test]
async fn a_join_of_which_one_source_never_runs_does_not_fire() {
    let mut graph = wired(
        &["choose", "left", "right", "both"],
        "^>choose left,right>both",
    );
    graph.add_conditional_edges("choose", |_: &Trail| "l", [("l", "left"), ("r", "right")]);
    assert_visits([graph], "choose@1 left@2").await;
}

#[tokio::test]
async fn a_conditional_branch_of_a_join_may_take_a_detour() {
    enum Way {
        Straight,
        Detour,
    }
    fn straight(_: &Trail) -> Way {
        Way::Straight
    }
    fn detour(_: &Trail) -> Way {
        Way::Detour
    }
    let (a, b, long, done) = (visit, visit, visit, visit);
    let direct = graph! {
        START => [a, b];
        a => match straight { Way::Straight => done, Way::Detour => long => done };
        [done, b] => end => END;
        let end = visit;
    };
    assert_visits([direct], "a@1 b@1 done@2 end@3").await;
    let around = graph! {
        START => [a, b];
        a => match detour { Way::Straight => done, Way::Detour => long => done };
        [done, b] => end => END;
        let end = visit;
    };
    assert_visits([around], "a@1 b@1 long@2 done@3 end@4").await;
}

#[tokio::test]
async fn a_source_that_comes_twice_counts_once() {
    // `a` runs twice before `b` comes.
    let mut graph = visiting(&["b1", "b2", "both"]);
    graph.add_node("a", turn);
    wire(&mut graph, "^>a ^>b1 b1>b2 a,b2>both");
    graph.add_router("a", |state: &Trail| (state.round < 2).then_some("a"));
    assert_visits([graph], "b1@1 a@1 b2@2 a@2 both@3").await;
}

#[tokio::test]
async fn after_firing_a_join_starts_anew() {
    // `a` alone goes round once more; `b` does not, so the join fires once.
    let mut graph = visiting(&["b", "both"]);
    graph.add_node("a", turn);
    wire(&mut graph, "^>a ^>b a,b>both");
    graph.add_router("a", |state: &Trail| (state.round < 2).then_some("a"));
    assert_visits([graph], "b@1 a@1 both@2 a@2").await;
}

#[tokio::test]
async fn a_node_may_stand_in_several_joins() {
    let graph = wired(&["a", "b", "c", "ab", "bc"], "^>a ^>b ^>c a,b>ab b,c>bc");
    let (a, b, c, ab, bc) = (visit, visit, visit, visit, visit);
    let by_macro = graph! {
        START => [a, b, c];
        [a, b] => ab => END;
        [b, c] => bc => END;
    };
    assert_visits([graph, by_macro], "a@1 b@1 c@1 ab@2 bc@2").await;
}

#[tokio::test]
async fn a_join_into_end_lets_the_run_end() {
    let graph = wired(&["a", "b"], "^>a ^>b a,b>$");
    let (a, b) = (visit, visit);
    let by_macro = graph! { START => [a, b] => END };
    assert_visits([graph, by_macro], "a@1 b@1").await;
}

#[tokio::test]
async fn a_join_waits_for_a_worker_once_however_many_tasks_it_has() {
    let mut graph = visiting(&["a", "a2", "end"]);
    let worker = graph.add_worker("worker", |n: usize, _: &Trail, cx: &Context| {
        let step = cx.step();
        async move {
            langgraph_tests::fixtures::trail::TrailUpdate::default()
                .visits(vec![format!("{n}@{step}")])
        }
    });
    graph.add_map(START, |_: &Trail| 0..3_usize, &worker);
    wire(&mut graph, "^>a a>a2 worker,a2>end");
    assert_visits([graph], "a@1 0@1 1@1 2@1 a2@2 end@3").await;
}

#[tokio::test]
async fn a_node_that_jumps_away_does_not_count_for_a_join() {
    let mut graph = visiting(&["b", "both", "other"]);
    graph.add_node("a", |state: &Trail, cx: &Context| {
        (visit(state, cx), Next::node("other"))
    });
    wire(&mut graph, "^>a ^>b a,b>both");
    assert_visits([graph], "b@1 a@1 other@2").await;
}
