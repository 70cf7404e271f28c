//! Where a run goes next: edges, the node's own word, routers.

use langgraph::node::Send;
use langgraph::prelude::*;

use langgraph_tests::fixtures::trail::{
    Trail, TrailUpdate, assert_visits, turn, visit, visited, visiting, wire, wired,
};

async fn fails(graph: &StateGraph<Trail>) -> AgentError {
    graph.compile().unwrap().invoke(()).await.unwrap_err()
}

/// A routing error, as its node, its target and its text.
fn routing(error: &AgentError) -> (&str, &str, String) {
    match error {
        AgentError::Routing {
            node,
            target,
            problem,
        } => (node, target, problem.clone()),
        other => panic!("{other}"),
    }
}

/// A graph whose node `choose`, with an edge to `a`, answers with `next`.
fn choosing(next: Next) -> StateGraph<Trail> {
    let mut graph = visiting(&["a", "b"]);
    graph.add_node("choose", move |_: &Trail, cx: &Context| {
        (visited(cx), next.clone())
    });
    wire(&mut graph, "^>choose choose>a");
    graph
}

#[tokio::test]
async fn b4_next_leads_where_it_says() {
    assert_visits([choosing(Next::Continue)], "choose@1 a@2").await;
    assert_visits([choosing(Next::node("b"))], "choose@1 b@2").await;
    assert_visits([choosing(Next::End)], "choose@1").await;
    // The reserved name means the same.
    assert_visits([choosing(Next::node(END))], "choose@1").await;
}

#[tokio::test]
async fn b4_next_in_a_macro_goes_where_it_was_declared() {
    fn chosen(next: &'static str) -> StateGraph<Trail> {
        let choose = move |_: &Trail, cx: &Context| (visited(cx), Next::node(next));
        let (a, b, c) = (visit, visit, visit);
        graph! {
            START => [choose, c];
            choose => goto [a, b, END];
            a => END;
            b => END;
            c => END;
        }
    }
    assert_visits([chosen("a")], "choose@1 c@1 a@2").await;
    assert_visits([chosen("b")], "choose@1 c@1 b@2").await;
    assert_visits([chosen(END)], "choose@1 c@1").await;
    let error = fails(&chosen("c")).await;
    let (node, target, problem) = routing(&error);
    assert_eq!((node, target), ("choose", "c"));
    assert!(problem.contains("goto [..]"), "{problem}");
}

#[tokio::test]
async fn b4_a_send_in_a_macro_goes_where_it_was_declared() {
    fn sending(node: &'static str) -> StateGraph<Trail> {
        let choose = move |state: &Trail, cx: &Context| {
            Command::update(visited(cx)).and_goto([Send::state(node, state.clone())])
        };
        let (a, b) = (visit, visit);
        graph! {
            START => [choose, b];
            choose => goto [a];
            a => END;
            b => END;
        }
    }
    assert_visits([sending("a")], "choose@1 b@1 a@2").await;
    let error = fails(&sending("b")).await;
    let (node, target, problem) = routing(&error);
    assert_eq!((node, target), ("choose", "b"));
    assert!(problem.contains("goto [..]"), "{problem}");
}

#[tokio::test]
async fn b4_an_unknown_name_is_an_error() {
    let error = fails(&choosing(Next::node("c"))).await;
    let (node, target, problem) = routing(&error);
    assert_eq!((node, target), ("choose", "c"));
    assert_eq!(problem, "there is no node `c` (nodes: `a`, `b`, `choose`)");
    let error = fails(&choosing(Next::node(START))).await;
    assert_eq!(routing(&error).1, START);
}

#[tokio::test]
async fn b4_an_unknown_name_is_an_error_from_a_router_and_from_a_node() {
    let unknown = || "nowhere".to_owned();
    let mut command = visiting(&[]);
    command
        .add_node("a", move |_: &Trail| Command::goto(unknown()))
        .add_edge(START, "a");
    let mut router = wired(&["a"], "^>a");
    router.add_router("a", move |_: &Trail| unknown());
    let mut send = wired(&["a"], "^>a");
    send.add_router("a", move |state: &Trail| {
        Send::state(unknown(), state.clone())
    });
    for graph in [command, router, send] {
        let error = fails(&graph).await;
        let (node, target, problem) = routing(&error);
        assert_eq!((node, target), ("a", "nowhere"));
        assert!(problem.contains("`a`"), "{problem}");
    }
    // From START, and from the input.
    let mut start = visiting(&["a"]);
    start.add_router(START, |_: &Trail| "nowhere");
    assert_eq!(routing(&fails(&start).await).1, "nowhere");
    let input = Command::<Trail>::goto("nowhere");
    let error = wired(&["a"], "^>a")
        .compile()
        .unwrap()
        .invoke(input)
        .await
        .unwrap_err();
    assert_eq!(routing(&error).1, "nowhere");
}

#[tokio::test]
async fn a_send_to_end_is_an_error() {
    let mut graph = wired(&["a"], "^>a");
    graph.add_router("a", |state: &Trail| Send::state(END, state.clone()));
    let error = fails(&graph).await;
    assert_eq!(routing(&error).1, END);
}

fn size(state: &Trail) -> &'static str {
    ["small", "middle", "big"][state.round]
}

#[tokio::test]
async fn b12_each_key_of_a_path_map_reaches_its_target() {
    enum Size {
        Small,
        Middle,
        Big,
    }
    fn by_type(state: &Trail) -> Size {
        [Size::Small, Size::Middle, Size::Big]
            .into_iter()
            .nth(state.round)
            .unwrap()
    }
    let mut graph = visiting(&["measure", "a", "b"]);
    graph.add_edge(START, "measure").add_conditional_edges(
        "measure",
        size,
        [("small", "a"), ("middle", "b"), ("big", END)],
    );
    let (measure, a, b) = (visit, visit, visit);
    let by_macro = graph! {
        START => measure => match by_type {
            Size::Small => a => END,
            Size::Middle => b => END,
            Size::Big => END,
        };
    };
    for graph in [graph, by_macro] {
        let graph = graph.compile().unwrap();
        for (round, expected) in ["measure@1 a@2", "measure@1 b@2", "measure@1"]
            .into_iter()
            .enumerate()
        {
            let state = graph
                .invoke(TrailUpdate::default().round(round))
                .await
                .unwrap();
            assert_eq!(state.visits.join(" "), expected);
        }
    }
}

#[tokio::test]
async fn b13_without_a_map_the_answer_is_the_node() {
    let mut graph = wired(&["measure", "small", "middle"], "^>measure");
    graph.add_router("measure", |state: &Trail| match size(state) {
        "big" => END,
        name => name,
    });
    let graph = graph.compile().unwrap();
    for (round, expected) in ["measure@1 small@2", "measure@1 middle@2", "measure@1"]
        .into_iter()
        .enumerate()
    {
        let state = graph
            .invoke(TrailUpdate::default().round(round))
            .await
            .unwrap();
        assert_eq!(state.visits.join(" "), expected);
    }
}

#[tokio::test]
async fn b14_an_unknown_key_names_the_node_and_the_key() {
    let mut graph = wired(&["a", "b"], "^>a");
    graph.add_conditional_edges("a", |_: &Trail| "maybe", [("yes", "b"), ("no", END)]);
    // Alone and beside another task the error is the same.
    for parallel in [false, true] {
        if parallel {
            graph.add_edge(START, "b");
        }
        let error = fails(&graph).await;
        let (node, target, problem) = routing(&error);
        assert_eq!((node, target), ("a", "maybe"));
        assert!(problem.contains("yes, no"), "{problem}");
    }
    // A node's name is no key.
    let mut graph = wired(&["a", "b"], "^>a");
    graph.add_conditional_edges("a", |_: &Trail| "b", [("yes", "b")]);
    assert_eq!(routing(&fails(&graph).await).1, "b");
}

#[tokio::test]
async fn b15_the_nodes_own_word_beats_edges_and_routers() {
    let mut stopped = choosing(Next::End);
    stopped.add_router("choose", |_: &Trail| "b");
    assert_visits([stopped], "choose@1").await;
    let mut gone = choosing(Next::node("b"));
    gone.add_router("choose", |_: &Trail| -> &'static str {
        panic!("is not asked")
    });
    assert_visits([gone], "choose@1 b@2").await;
    let mut followed = choosing(Next::Continue);
    followed.add_router("choose", |_: &Trail| "b");
    assert_visits([followed], "choose@1 a@2 b@2").await;
}

#[tokio::test]
async fn b15_a_goto_with_edges_does_both() {
    let graph = |command: fn(Command<Trail>) -> Command<Trail>| {
        let mut graph = visiting(&["a", "b", "c"]);
        graph.add_node("choose", move |_: &Trail, cx: &Context| {
            command(Command::update(visited(cx)))
        });
        wire(&mut graph, "^>choose choose>a");
        graph
    };
    assert_visits([graph(|c| c)], "choose@1 a@2").await;
    assert_visits([graph(|c| c.and_goto("b"))], "choose@1 b@2").await;
    assert_visits([graph(|c| c.and_goto("b").and_edges())], "choose@1 a@2 b@2").await;
    assert_visits([graph(|c| c.and_goto(["c", "b"]))], "choose@1 b@2 c@2").await;
    // One node, reached twice, runs once.
    assert_visits(
        [graph(|c| c.and_goto(["a", "a"]).and_edges())],
        "choose@1 a@2",
    )
    .await;
    // An empty list goes nowhere.
    assert_visits([graph(|c| c.and_goto(Vec::<String>::new()))], "choose@1").await;
}

#[tokio::test]
async fn several_routers_of_one_node_are_all_followed() {
    let mut graph = wired(&["a", "b", "c", "d"], "^>a a>b");
    graph.add_router("a", |_: &Trail| "c");
    graph.add_conditional_edges("a", |_: &Trail| "go", [("go", "d")]);
    graph.add_router("a", |_: &Trail| "c");
    let (a, b, c, d) = (visit, visit, visit, visit);
    let yes = |_: &Trail| true;
    let by_macro = graph! {
        START => a;
        a => b => END;
        a => if yes { c => END } else { END };
        a => if yes { d => END } else { END };
    };
    assert_visits([graph, by_macro], "a@1 b@2 c@2 d@2").await;
}

#[tokio::test]
async fn a_router_may_answer_several_or_none() {
    let mut several = wired(&["a", "b", "c"], "^>a");
    several.add_router("a", |_: &Trail| ["c", "b", END]);
    assert_visits([several], "a@1 b@2 c@2").await;
    let mut keys = wired(&["a", "b", "c"], "^>a");
    keys.add_conditional_edges("a", |_: &Trail| vec!["x", "y"], [("x", "c"), ("y", "b")]);
    assert_visits([keys], "a@1 b@2 c@2").await;
    let mut none = wired(&["a", "b"], "^>a");
    none.add_router("a", |_: &Trail| Vec::<String>::new());
    assert_visits([none], "a@1").await;
    let mut option = wired(&["a", "b"], "^>a");
    option.add_router("a", |state: &Trail| state.visits.first().map(|_| "b"));
    assert_visits([option], "a@1 b@2").await;
}

#[tokio::test]
async fn a_group_in_an_arm_starts_all() {
    let (a, b, c) = (visit, visit, visit);
    let yes = |_: &Trail| true;
    let graph = graph! { START => a => if yes { [b, c] } else { END }; [b, c] => END; };
    assert_visits([graph], "a@1 b@2 c@2").await;
}

#[tokio::test]
async fn a_router_may_answer_sends() {
    let mut graph = wired(&["a", "b"], "^>a");
    let note = graph.add_worker("note", |text: String, _: &Trail| async move {
        TrailUpdate::default().visits(vec![text])
    });
    graph.add_router("a", move |_: &Trail| {
        vec![
            Send::to(&note, "x".to_owned()),
            Send::to(&note, "y".to_owned()),
        ]
    });
    graph.add_router("a", |_: &Trail| "b");
    // Nodes first, then sends in their order.
    assert_visits([graph], "a@1 b@2 x y").await;
}

#[tokio::test]
async fn sends_follow_the_nodes_in_the_order_of_the_tasks_that_sent_them() {
    let mut graph = wired(&["z", "a", "plain"], "^>a ^>z a>plain");
    let note = graph.add_worker("note", |text: String, _: &Trail| async move {
        TrailUpdate::default().visits(vec![text])
    });
    let other = note.clone();
    graph.add_router("a", move |_: &Trail| {
        ["a1", "a2"].map(|text| Send::to(&note, text.to_owned()))
    });
    graph.add_router("z", move |_: &Trail| Send::to(&other, "z1".to_owned()));
    // `z` is declared first.
    assert_visits([graph], "z@1 a@1 plain@2 z1 a1 a2").await;
}

#[tokio::test]
async fn a_send_of_a_state_gives_a_node_that_state() {
    let reported =
        |state: &Trail| TrailUpdate::default().visits(vec![format!("reported {}", state.last)]);
    let mut graph = wired(&["a"], "^>a");
    graph.add_node("reported", reported);
    graph.add_router("a", |_: &Trail| {
        let private = |last: &str| Trail {
            last: last.to_owned(),
            ..Trail::default()
        };
        [
            Send::state("reported", private("x")),
            Send::state("reported", private("y")),
        ]
    });
    assert_visits([graph], "a@1 reported x reported y").await;
}

#[tokio::test]
async fn a_worker_that_is_sent_another_type_says_so() {
    let mut graph = wired(&["a"], "^>a");
    let _ = graph.add_worker("count", |_: u32, _: &Trail| async {});
    graph.add_router("a", |_: &Trail| Send::to("count", "three".to_owned()));
    let error = fails(&graph).await;
    assert!(matches!(&error, AgentError::Node { node, .. } if &**node == "count"));
    assert!(
        error.to_string().contains("u32") && error.to_string().contains("String"),
        "{error}"
    );
}

#[tokio::test]
async fn routers_from_start() {
    enum Entry {
        Left,
        Both,
    }
    fn entry(state: &Trail) -> Entry {
        if state.round == 0 {
            Entry::Left
        } else {
            Entry::Both
        }
    }
    let mut graph = visiting(&["left", "right"]);
    graph.add_router(START, |state: &Trail| match entry(state) {
        Entry::Left => vec!["left"],
        Entry::Both => vec!["left", "right"],
    });
    let (left, right) = (visit, visit);
    let by_macro = graph! {
        START => match entry {
            Entry::Left => left,
            Entry::Both => [left, right],
        };
        left => END;
        right => END;
    };
    for graph in [graph, by_macro] {
        let graph = graph.compile().unwrap();
        assert_eq!(graph.invoke(()).await.unwrap().visits, ["left@1"]);
        let state = graph.invoke(TrailUpdate::default().round(1)).await.unwrap();
        assert_eq!(state.visits, ["left@1", "right@1"]);
    }
}

#[tokio::test]
async fn a_router_from_start_may_send_and_may_end() {
    let mut graph = visiting(&["never"]);
    let note = graph.add_worker("note", |n: usize, _: &Trail| async move {
        TrailUpdate::default().visits(vec![format!("note {n}")])
    });
    graph.add_router(START, move |_: &Trail| {
        (0..3).map(|n| Send::to(&note, n)).collect::<Vec<_>>()
    });
    assert_visits([graph], "note 0 note 1 note 2").await;
    let mut graph = visiting(&["never"]);
    graph.add_router(START, |_: &Trail| END);
    assert_visits([graph], "").await;
}

#[tokio::test]
async fn a_router_sees_its_own_nodes_update_and_not_its_siblings() {
    let mut graph = StateGraph::<Trail>::new();
    for name in ["a", "b"] {
        graph.add_node(name, visit).add_edge(START, name);
        graph.add_router(name, |state: &Trail, cx: &Context| {
            assert_eq!(state.visits, [format!("{}@1", cx.node())]);
            END
        });
    }
    assert_visits([graph], "a@1 b@1").await;
}

#[tokio::test]
async fn the_error_of_a_router_is_that_of_its_node() {
    let lost = |_: &Trail| Err::<&str, _>(NodeError::msg("lost"));
    for start in ["^>a", "^>a ^>b"] {
        let mut graph = wired(&["a", "b"], start);
        graph.add_router("a", lost);
        assert_eq!(fails(&graph).await.to_string(), "node `a` failed: lost");
    }
    let mut graph = visiting(&["a"]);
    graph.add_router(START, lost);
    assert!(matches!(fails(&graph).await, AgentError::Node { node, .. } if &*node == START));
}

#[tokio::test]
async fn a_router_may_lead_back_to_its_own_node() {
    let mut graph = StateGraph::<Trail>::new();
    graph.add_node("a", turn).add_edge(START, "a");
    graph.add_router("a", |state: &Trail| if state.round < 3 { "a" } else { END });
    let a = turn;
    let again = |state: &Trail| state.round < 3;
    let by_macro = graph! { START => a => if again { a } else { END }; };
    assert_visits([graph, by_macro], "a@1 a@2 a@3").await;
}

#[tokio::test]
async fn a_panic_in_a_router_is_distinguished_from_one_in_its_node() {
    for side_by_side in [false, true] {
        let mut graph = StateGraph::<Trail>::new();
        graph.add_node("calm", |_: &Trail| TrailUpdate::default());
        graph.add_node("other", |_: &Trail| TrailUpdate::default());
        graph.add_edge(START, "calm").add_edge("other", END);
        if side_by_side {
            graph.add_edge(START, "other");
        }
        graph.add_router("calm", |_: &Trail| -> &'static str { panic!("a fork") });
        let error = graph.compile().unwrap().invoke(()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "node `calm` failed: a router behind it panicked: a fork"
        );
    }
}
