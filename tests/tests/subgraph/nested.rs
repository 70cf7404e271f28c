//! Graphs inside graphs: what comes back, what passes through, and the way out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::node::Send;
use langgraph::prelude::*;

use langgraph_tests::fixtures::trail::{
    Trail, TrailUpdate, assert_visits, visit, visited, visiting, wire, wired,
};

fn compiled(graph: &StateGraph<Trail>) -> CompiledStateGraph<Trail> {
    graph.compile().unwrap()
}

#[tokio::test]
async fn g1_j9_a_subgraph_returns_what_it_changed() {
    let inner = compiled(&wired(&["x", "y"], "^>x x>y"));
    let mut graph = visiting(&["before", "after"]);
    graph
        .add_node("inner", inner.clone())
        .add_sequence(&["before", "inner", "after"]);
    let (before, after) = (visit, visit);
    let by_macro = graph! { START => before => inner => after => END };
    // Appended lists do not double; supersteps are counted per graph.
    assert_visits([graph, by_macro], "before@1 x@1 y@2 after@3").await;
}

#[tokio::test]
async fn j9_nothing_doubles_in_a_loop_beside_siblings_or_three_levels_deep() {
    let inner = compiled(&wired(&["x"], "^>x"));
    let mut middle = visiting(&["m"]);
    middle.add_node("inner", inner.clone());
    wire(&mut middle, "^>m m>inner");
    let middle = compiled(&middle);
    let mut outer = visiting(&["beside"]);
    outer.add_node("middle", middle).add_node("inner", inner);
    wire(&mut outer, "^>beside ^>middle ^>inner");
    outer.add_router("inner", |state: &Trail| {
        (state.visits.len() < 9).then_some("inner")
    });
    assert_visits([outer], "beside@1 m@1 x@1 x@1 x@1 x@1 x@1 x@1 x@1").await;
}

#[tokio::test]
async fn g1_a_field_that_a_subgraph_does_not_write_may_be_written_beside_it() {
    let inner = compiled(&wired(&["x"], "^>x"));
    let mut graph = StateGraph::<Trail>::new();
    graph
        .add_node("inner", inner)
        .add_node("beside", |_: &Trail| {
            TrailUpdate::default().last("beside".to_owned())
        });
    wire(&mut graph, "^>inner ^>beside");
    let state = compiled(&graph).invoke(()).await.unwrap();
    assert_eq!(
        (state.visits.join(" ").as_str(), state.last.as_str()),
        ("x@1", "beside")
    );
}

#[derive(State, Clone, Debug, Default)]
struct Outer {
    question: String,
    answer: String,
    #[reducer(append)]
    log: Vec<String>,
}

#[tokio::test]
async fn g2_a_subgraph_over_another_state_is_mapped_in_and_out() {
    let mut inner = StateGraph::<Trail>::new();
    inner.add_node("think", |state: &Trail, cx: &Context| {
        visited(cx).last(format!("about {}", state.last))
    });
    inner.add_sequence(&["think"]);
    let inner = compiled(&inner).mapped(
        |outer: &Outer| TrailUpdate::default().last(outer.question.clone()),
        |inner: Trail| OuterUpdate::default().answer(inner.last),
    );
    let log = |_: &Outer| OuterUpdate::default().log(vec!["logged".to_owned()]);
    let mut graph = StateGraph::<Outer>::new();
    graph
        .add_node("log", log)
        .add_node("inner", inner.clone())
        .add_sequence(&["log", "inner"]);
    let by_macro = graph! { START => log => inner => END };
    for graph in [graph, by_macro] {
        let input = OuterUpdate::default().question("crabs".to_owned());
        let state = graph.compile().unwrap().invoke(input).await.unwrap();
        assert_eq!(state.answer, "about crabs");
        // What the mapping does not mention is untouched.
        assert_eq!(
            (state.question.as_str(), state.log.join(" ").as_str()),
            ("crabs", "logged")
        );
    }
}

#[tokio::test]
async fn a_node_may_call_a_graph() {
    async fn ask(_: &Outer, cx: &Context) -> Result<OuterUpdate, NodeError> {
        let inner = cx.resource::<CompiledStateGraph<Trail>>()?;
        let state = cx.run(inner, TrailUpdate::default().round(3)).await?;
        Ok(OuterUpdate::default().answer(format!("{} {}", state.visits.join(" "), state.round)))
    }
    let mut graph = StateGraph::<Outer>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    let by_macro = graph! { START => ask => END };
    for graph in [graph, by_macro] {
        let inner = Arc::new(compiled(&wired(&["x", "y"], "^>x x>y")));
        let run = graph.compile().unwrap().run(()).resource(inner);
        assert_eq!(run.await.unwrap().finished().unwrap().answer, "x@1 y@2 3");
    }
}

/// A subgraph whose node `out`, between `x` and `never`, answers with `command`.
fn leaving(
    command: impl Fn() -> Command<Trail> + Clone + std::marker::Send + Sync + 'static,
) -> CompiledStateGraph<Trail> {
    let mut inner = visiting(&["x", "never"]);
    inner.add_node("out", move |_: &Trail| Command::<Trail>::parent(command()));
    wire(&mut inner, "^>x x>out out>never");
    compiled(&inner)
}

#[tokio::test]
async fn a_command_to_the_parent_ends_the_subgraph_and_goes_on_there() {
    let command = || {
        let update = TrailUpdate::default().last("sent".to_owned());
        Command::update(update).and_goto("there")
    };
    let inner = leaving(command);
    let mut graph = visiting(&["edge", "there"]);
    graph.add_node("inner", inner.clone());
    wire(&mut graph, "^>inner inner>edge");
    let there = visit;
    let by_macro = graph! {
        START => inner => goto [there];
        there => END;
    };
    for graph in [graph, by_macro] {
        let state = compiled(&graph).invoke(()).await.unwrap();
        // What the subgraph had changed comes along; `goto` replaces the edges of its node.
        assert_eq!(
            (state.visits.join(" ").as_str(), state.last.as_str()),
            ("x@1 there@2", "sent")
        );
    }
}

#[tokio::test]
async fn a_command_to_the_parent_may_follow_the_edges_send_and_only_update() {
    let graph = |inner| {
        let mut graph = visiting(&["edge", "there"]);
        graph.add_node("inner", inner);
        wire(&mut graph, "^>inner inner>edge");
        graph
    };
    let both = leaving(|| Command::goto("there").and_edges());
    assert_visits([graph(both)], "x@1 edge@2 there@2").await;
    let update =
        leaving(|| Command::update(TrailUpdate::default().visits(vec!["sent".to_owned()])));
    assert_visits([graph(update)], "x@1 sent edge@2").await;
    let sends = leaving(|| {
        let reported = Trail {
            round: 1,
            ..Trail::default()
        };
        Command::goto(vec![
            Send::state("there", reported.clone()),
            Send::state("there", reported),
        ])
    });
    assert_visits([graph(sends)], "x@1 there@2 there@2").await;
    let end = leaving(|| Command::goto(END));
    assert_visits([graph(end)], "x@1").await;
}

#[tokio::test]
async fn a_command_to_the_parent_reaches_the_graph_around_and_no_further() {
    let inner = leaving(|| Command::goto("there"));
    let mut middle = visiting(&["there"]);
    middle.add_node("inner", inner);
    wire(&mut middle, "^>inner");
    let mut outer = visiting(&["after"]);
    outer.add_node("middle", compiled(&middle));
    wire(&mut outer, "^>middle middle>after");
    assert_visits([outer], "x@1 there@2 after@2").await;
}

#[tokio::test]
async fn a_command_to_a_parent_over_another_state() {
    let mut inner = visiting(&["x"]);
    inner.add_node("out", |_: &Trail| {
        let update = OuterUpdate::default().question("why?".to_owned());
        Command::<Trail>::parent(Command::<Outer>::update(update).and_goto("there"))
    });
    wire(&mut inner, "^>x x>out");
    let node = compiled(&inner).mapped(
        |_: &Outer| (),
        |inner: Trail| OuterUpdate::default().log(inner.visits),
    );
    let mut graph = StateGraph::<Outer>::new();
    graph
        .add_node("inner", node)
        .add_node("there", |state: &Outer| {
            OuterUpdate::default().answer(state.question.clone())
        })
        .add_edge(START, "inner");
    let state = graph.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(
        (state.log.join(" ").as_str(), state.answer.as_str()),
        ("x@1", "why?")
    );
}

#[tokio::test]
async fn a_graph_that_jumps_in_the_one_around_says_in_the_macro_where_it_may_go() {
    let mut inner = StateGraph::<i64>::new();
    inner.add_node("out", |_: &i64| {
        Command::<i64>::parent(Command::<i64>::update(1.into()).and_goto("there"))
    });
    inner.add_edge(START, "out");
    let inner = inner.compile().unwrap();
    let there = |n: &i64| n + 10;

    let silent = inner.clone();
    let silent = graph! { START => silent => END; START => there => END };
    let error = silent.compile().unwrap().invoke(0).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "after `silent`: it does not say that it may go to `there`; say so beside its edges: \
         `silent => goto [there];`"
    );

    let graph = graph! {
        START => inner => END;
        inner => goto [there];
        there => END;
    };
    assert_eq!(graph.compile().unwrap().invoke(0).await.unwrap(), 11);
}

#[tokio::test]
async fn a_command_to_a_parent_of_the_wrong_type_or_to_none_is_an_error() {
    let mut inner = visiting(&[]);
    inner.add_node("out", |_: &Trail| {
        Command::<Trail>::parent(Command::<i64>::goto("x"))
    });
    wire(&mut inner, "^>out");
    let inner = compiled(&inner);
    let error = inner.invoke(()).await.unwrap_err();
    assert!(error.to_string().contains("`Command::parent`"), "{error}");
    let mut outer = visiting(&["x"]);
    outer.add_node("inner", inner).add_edge(START, "inner");
    let error = compiled(&outer).invoke(()).await.unwrap_err();
    assert!(
        error.to_string().contains("i64") && error.to_string().contains("Trail"),
        "{error}"
    );
}

#[tokio::test]
async fn errors_say_the_path_to_the_node() {
    let mut inner = visiting(&["x"]);
    inner.add_node("bad", |_: &Trail| Err::<(), _>(NodeError::msg("no")));
    wire(&mut inner, "^>x x>bad");
    let inner = compiled(&inner);
    let mut middle = StateGraph::<Trail>::new();
    middle.add_node("inner", inner).add_sequence(&["inner"]);
    let mut outer = visiting(&["beside"]);
    outer.add_node("middle", compiled(&middle));
    wire(&mut outer, "^>middle");
    for beside in [false, true] {
        if beside {
            outer.add_edge(START, "beside");
        }
        let error = compiled(&outer).invoke(()).await.unwrap_err();
        assert_eq!(error.to_string(), "node `middle/inner/bad` failed: no");
        let AgentError::Node {
            node, namespace, ..
        } = error
        else {
            panic!("{error}");
        };
        let path: Vec<_> = namespace.iter().map(|name| &**name).collect();
        assert_eq!(
            (&*node, path.as_slice()),
            ("bad", ["middle", "inner"].as_slice())
        );
    }
}

#[tokio::test]
async fn a_subgraph_is_retried_as_a_whole() {
    let runs = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&runs);
    let mut inner = visiting(&["x"]);
    inner.add_node("flaky", move |_: &Trail, cx: &Context| {
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => Err(NodeError::msg("not yet")),
            _ => Ok(visited(cx)),
        }
    });
    wire(&mut inner, "^>x x>flaky");
    let policy = langgraph::policy::RetryPolicy::attempts(2).immediately();
    let inner = compiled(&inner).retry(policy);
    let mut outer = StateGraph::<Trail>::new();
    outer.add_node("inner", inner).add_sequence(&["inner"]);
    // The first attempt leaves nothing behind.
    assert_visits([outer], "x@1 flaky@2").await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn resources_pass_through_and_the_runs_win() {
    let say = |_: &Trail, cx: &Context| {
        let reported = cx.resource::<String>().cloned().unwrap_or_default();
        TrailUpdate::default().visits(vec![format!("{}:{reported}", cx.node())])
    };
    let mut inner = StateGraph::<Trail>::new();
    inner.add_node("in", say).add_sequence(&["in"]);
    let mut outer = StateGraph::<Trail>::new();
    outer
        .resource(Arc::new("outer".to_owned()))
        .add_node("inner", compiled(&inner))
        .add_node("out", say)
        .add_sequence(&["inner", "out"]);
    let graph = compiled(&outer);
    assert_eq!(
        graph.invoke(()).await.unwrap().visits,
        ["in:outer", "out:outer"]
    );
    let run = graph.run(()).resource(Arc::new("run".to_owned()));
    assert_eq!(
        run.await.unwrap().finished().unwrap().visits,
        ["in:run", "out:run"]
    );
    inner.resource(Arc::new("inner".to_owned()));
    let mut outer = outer.clone();
    outer
        .add_node("inner2", compiled(&inner))
        .add_edge(START, "inner2");
    let visits = compiled(&outer).invoke(()).await.unwrap().visits;
    assert!(visits.contains(&"in:inner".to_owned()), "{visits:?}");
}

#[derive(State, Clone, Debug, Default)]
struct Hinted {
    /// For the next superstep only.
    #[state(ephemeral)]
    hint: String,
    #[reducer(append)]
    seen: Vec<String>,
}

#[tokio::test]
async fn an_ephemeral_field_is_seen_by_the_first_superstep_of_a_subgraph_too() {
    let look = |state: &Hinted, cx: &Context| {
        HintedUpdate::default().seen(vec![format!("{}={}", cx.node(), state.hint)])
    };
    let mut inner = StateGraph::<Hinted>::new();
    inner
        .add_node("first", look)
        .add_node("second", look)
        .add_sequence(&["first", "second"]);
    let inner = inner.compile().unwrap();
    let mut outer = StateGraph::<Hinted>::new();
    outer
        .add_node("inner", inner.clone())
        .add_node("after", look)
        .add_sequence(&["inner", "after"]);
    let input = || HintedUpdate::default().hint("psst".to_owned());
    let alone = inner.invoke(input()).await.unwrap();
    assert_eq!(alone.seen, ["first=psst", "second="]);
    let inside = outer.compile().unwrap().invoke(input()).await.unwrap();
    assert_eq!(inside.seen, ["first=psst", "second=", "after="]);
}

#[tokio::test]
async fn an_ephemeral_field_of_a_subgraph_outlives_only_its_last_superstep() {
    let say = |hint: &'static str| move |_: &Hinted| HintedUpdate::default().hint(hint.to_owned());
    let look = |state: &Hinted| HintedUpdate::default().seen(vec![state.hint.clone()]);
    let graph = |edges: &[&str]| {
        let mut inner = StateGraph::<Hinted>::new();
        inner
            .add_node("say", say("early"))
            .add_node("quiet", |_: &Hinted| ())
            .add_sequence(edges);
        let mut outer = StateGraph::<Hinted>::new();
        outer
            .add_node("inner", inner.compile().unwrap())
            .add_node("look", look)
            .add_sequence(&["inner", "look"]);
        outer.compile().unwrap()
    };
    let last = graph(&["quiet", "say"]).invoke(()).await.unwrap();
    assert_eq!(last.seen, ["early"]);
    let earlier = graph(&["say", "quiet"]).invoke(()).await.unwrap();
    assert_eq!(earlier.seen, [""]);
}

#[tokio::test]
async fn an_ephemeral_field_is_still_there_when_a_subgraph_goes_on() {
    let mut inner = StateGraph::<Hinted>::new();
    inner.add_node(
        "ask",
        |state: &Hinted, cx: &Context| -> Result<HintedUpdate, NodeError> {
            let answer: String = cx.interrupt("who", "who?")?;
            Ok(HintedUpdate::default().seen(vec![format!("{answer} {}", state.hint)]))
        },
    );
    inner.add_sequence(&["ask"]);
    let mut outer = StateGraph::<Hinted>::new();
    outer
        .add_node("inner", inner.compile().unwrap())
        .add_sequence(&["inner"]);
    let saver = Arc::new(langgraph::checkpoint::MemorySaver::new());
    let outer = outer.compile().unwrap().checkpointer(saver);
    let input = HintedUpdate::default().hint("psst".to_owned());
    let outcome = outer.run(input).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    let state = outer
        .thread("t")
        .answer("me")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.seen, ["me psst"]);
}

#[tokio::test]
async fn g3_a_mapped_subgraph_that_pauses_is_not_mapped_back() {
    let mut inner = StateGraph::<Trail>::new();
    inner.add_node(
        "ask",
        |_: &Trail, cx: &Context| -> Result<TrailUpdate, NodeError> {
            let answer: String = cx.interrupt("name", "who?")?;
            Ok(TrailUpdate::default().last(answer))
        },
    );
    inner.add_sequence(&["ask"]);
    let node = compiled(&inner).mapped(
        |_: &Outer| (),
        |inner: Trail| -> Result<OuterUpdate, NodeError> {
            if inner.last.is_empty() {
                return Err(NodeError::msg("mapped back before the end"));
            }
            Ok(OuterUpdate::default().answer(inner.last))
        },
    );
    let mut graph = StateGraph::<Outer>::new();
    graph.add_node("inner", node).add_sequence(&["inner"]);
    let outcome = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(langgraph::checkpoint::MemorySaver::new()))
        .run(())
        .thread("t")
        .await
        .unwrap();
    let [question] = outcome.interrupts() else {
        panic!("{outcome:?}");
    };
    assert_eq!((question.key.as_str(), &*question.node), ("name", "ask"));
    assert_eq!(question.namespace.len(), 1);
}
