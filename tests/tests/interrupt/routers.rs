//! Routers that ask people: their node does not run twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::{Durability, MemorySaver};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::run::Persistence;
use langgraph::thread::StateUpdate;

use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visit, visited, visiting, wire};

type Way = Result<String, NodeError>;

/// Asks under `key` where to go.
fn ask_under(key: &'static str) -> impl Fn(&Trail, &Context) -> Way + Send + Sync + 'static {
    move |_, cx| Ok(cx.interrupt::<String>(key, "where to?")?)
}

fn kept(graph: &StateGraph<Trail>) -> CompiledStateGraph<Trail> {
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

fn keys(outcome: &Outcome<Trail>) -> Vec<(&str, &str)> {
    let interrupts = outcome.interrupts().iter();
    interrupts.map(|i| (&*i.node, &*i.key)).collect()
}

/// `a`, whose router asks whether to go left or right.
fn fork_in_the_road() -> StateGraph<Trail> {
    let mut graph = visiting(&["a", "left", "right"]);
    graph.add_edge(START, "a").add_router("a", ask_under("way"));
    graph
}

#[tokio::test]
async fn a_routers_question_pauses_the_run_and_its_answer_goes_on() {
    let graph = kept(&fork_in_the_road());
    let outcome = graph.run(()).thread("t").await.unwrap();
    assert_eq!(keys(&outcome), [("a", "way")]);
    assert_eq!(outcome.interrupts()[0].payload, "where to?");
    // The node has run, and the person who answers sees its writes.
    assert_eq!(outcome.state().visits, ["a@1"]);
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.interrupts, outcome.interrupts());
    assert_eq!(snapshot.values, *outcome.state());
    assert_eq!(snapshot.next, [Arc::from("a")]);

    let outcome = graph.thread("t").resume("way", "right").await.unwrap();
    assert_eq!(outcome.finished().unwrap().visits, ["a@1", "right@2"]);
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.values.visits, ["a@1", "right@2"]);
    let history = graph.thread("t").history().await.unwrap();
    let sizes: Vec<_> = history.iter().map(|s| s.values.visits.len()).collect();
    assert_eq!(sizes, [2, 1, 0, 0]);
}

#[tokio::test]
async fn an_async_router_in_the_macro_may_ask() {
    enum Verdict {
        Approve,
        Reject,
    }
    async fn review(state: &Trail, cx: &Context) -> Result<Verdict, NodeError> {
        let approved: bool = cx.interrupt("approve", &state.visits)?;
        Ok(if approved {
            Verdict::Approve
        } else {
            Verdict::Reject
        })
    }
    let (draft, publish) = (visit, visit);
    let graph = kept(&graph! {
        START => draft => match review {
            Verdict::Approve => publish => END,
            Verdict::Reject => draft,
        };
    });
    graph.run(()).thread("t").await.unwrap();
    let outcome = graph.thread("t").resume("approve", false).await.unwrap();
    assert_eq!(outcome.state().visits, ["draft@1", "draft@2"]);
    assert_eq!(keys(&outcome), [("draft", "approve")]);
    let outcome = graph.thread("t").resume("approve", true).await.unwrap();
    assert_eq!(
        outcome.finished().unwrap().visits,
        ["draft@1", "draft@2", "publish@3"]
    );
}

#[tokio::test]
async fn a_router_of_start_may_ask() {
    for durability in [Durability::Sync, Durability::Exit] {
        let mut graph = visiting(&["left", "right"]);
        graph.add_router(START, ask_under("way"));
        let graph = kept(&graph);
        let input = || TrailUpdate::default().visits(vec!["input".to_owned()]);
        let run = graph.run(input()).thread("t").durability(durability);
        let outcome = run.await.unwrap();
        assert_eq!(keys(&outcome), [(START, "way")]);
        assert_eq!(outcome.state().visits, ["input"]);
        let snapshot = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(snapshot.values.visits, ["input"]);
        assert_eq!(snapshot.interrupts, outcome.interrupts());

        let outcome = graph
            .thread("t")
            .answer("left")
            .durability(durability)
            .await;
        assert_eq!(outcome.unwrap().state().visits, ["input", "left@1"]);
        let outcome = graph.run(input()).thread("t").await.unwrap();
        assert_eq!(outcome.state().visits, ["input", "left@1", "input"]);
        let outcome = graph.thread("t").answer("right").await.unwrap();
        assert_eq!(
            outcome.state().visits,
            ["input", "left@1", "input", "right@4"]
        );
    }
}

#[tokio::test]
async fn in_parallel_each_router_waits_for_its_own_answer() {
    for durability in [Durability::Sync, Durability::Exit] {
        let runs = Arc::new(AtomicUsize::new(0));
        let mut graph = visiting(&["x", "y"]);
        for name in ["a", "b", "c"] {
            let runs = Arc::clone(&runs);
            graph.add_node(name, move |_: &Trail, cx: &Context| {
                runs.fetch_add(1, Ordering::SeqCst);
                visited(cx)
            });
            graph.add_edge(START, name);
        }
        graph
            .add_router("a", ask_under("of a"))
            .add_router("c", ask_under("of c"));
        let graph = kept(&graph);
        let run = graph.run(()).thread("t").durability(durability);
        let outcome = run.await.unwrap();
        assert_eq!(keys(&outcome), [("a", "of a"), ("c", "of c")]);
        assert_eq!(outcome.state().visits, ["a@1", "b@1", "c@1"]);

        let outcome = graph.thread("t").resume("of c", "y").durability(durability);
        let outcome = outcome.await.unwrap();
        assert_eq!(keys(&outcome), [("a", "of a")]);
        assert_eq!(outcome.state().visits, ["a@1", "b@1", "c@1"]);
        let snapshot = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(snapshot.values.visits, ["a@1", "b@1", "c@1"]);

        let outcome = graph.thread("t").resume("of a", "x").durability(durability);
        let state = outcome.await.unwrap().finished().unwrap();
        assert_eq!(state.visits, ["a@1", "b@1", "c@1", "x@2", "y@2"]);
        assert_eq!(runs.load(Ordering::SeqCst), 3);
        let snapshot = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(snapshot.values, state);
    }
}

#[tokio::test]
async fn routers_in_a_graph_inside_may_ask_and_nothing_doubles() {
    let mut inner = fork_in_the_road();
    inner.add_router(START, ask_under("enter"));
    let mut outer = visiting(&["before"]);
    outer.add_node("inside", inner.compile().unwrap());
    wire(&mut outer, "^>before before>inside");
    let outer = kept(&outer);

    let outcome = outer.run(()).thread("t").await.unwrap();
    assert_eq!(keys(&outcome), [(START, "enter")]);
    assert_eq!(outcome.interrupts()[0].namespace, [Arc::from("inside")]);
    let outcome = outer.thread("t").resume("enter", "left").await.unwrap();
    assert_eq!(keys(&outcome), [("a", "way")]);
    let outcome = outer.thread("t").resume("way", "right").await.unwrap();
    // `a` by START's edge and `left` by its router in one superstep, then `right`.
    assert_eq!(
        outcome.finished().unwrap().visits,
        ["before@1", "a@1", "left@1", "right@2"]
    );
}

#[tokio::test]
async fn routers_in_a_graph_that_keeps_nothing_find_their_answers() {
    let mut inner = fork_in_the_road();
    inner.add_router(START, ask_under("enter"));
    let inner = inner.compile().unwrap().persistence(Persistence::None);
    let mut outer = visiting(&["before"]);
    outer.add_node("inside", inner);
    wire(&mut outer, "^>before before>inside");
    let outer = kept(&outer);
    outer.run(()).thread("t").await.unwrap();
    let outcome = outer.thread("t").resume("enter", "left").await.unwrap();
    assert_eq!(keys(&outcome), [("a", "way")]);
    let error = outer.thread("t").resume("way", 1).await.unwrap_err();
    assert!(
        error.to_string().starts_with("node `inside/a` waits on: "),
        "{error}"
    );
    let outcome = outer.thread("t").resume("way", "right").await.unwrap();
    assert_eq!(
        outcome.finished().unwrap().visits,
        ["before@1", "a@1", "left@1", "right@2"]
    );
}

#[tokio::test]
async fn a_node_and_its_routers_ask_in_their_order() {
    let mut graph = visiting(&["x", "y"]);
    graph.add_node(
        "a",
        |_: &Trail, cx: &Context| -> Result<TrailUpdate, NodeError> {
            let name: String = cx.interrupt_next("name?")?;
            Ok(TrailUpdate::default().visits(vec![name]))
        },
    );
    let next = |_: &Trail, cx: &Context| -> Way { Ok(cx.interrupt_next::<String>("where?")?) };
    graph
        .add_edge(START, "a")
        .add_router("a", next)
        .add_router("a", next);
    let graph = kept(&graph);
    let outcome = graph.run(()).thread("t").await.unwrap();
    assert_eq!(keys(&outcome), [("a", "0")]);
    let outcome = graph.thread("t").answer("Ada").await.unwrap();
    assert_eq!(keys(&outcome), [("a", "route:0")]);
    let outcome = graph.thread("t").answer("x").await.unwrap();
    assert_eq!(keys(&outcome), [("a", "route:1")]);
    let outcome = graph.thread("t").answer("y").await.unwrap();
    assert_eq!(outcome.finished().unwrap().visits, ["Ada", "x@2", "y@2"]);
}

#[tokio::test]
async fn a_router_that_goes_on_without_the_answer_is_an_error() {
    for watched in [false, true] {
        let mut graph = visiting(&["a", "b"]);
        graph.add_edge(START, "a");
        graph.add_router("a", |_: &Trail, cx: &Context| {
            let _ = cx.interrupt::<String>("way", "where?");
            "b"
        });
        let error = if watched {
            kept(&graph).run(()).thread("t").await.unwrap_err()
        } else {
            graph.compile().unwrap().run(()).await.unwrap_err()
        };
        assert_eq!(
            error.to_string(),
            "node `a` failed: went on without the answer to `way`; pass the error on with `?`"
        );
    }
}

#[tokio::test]
async fn a_router_without_a_thread_cannot_ask() {
    let graph = fork_in_the_road().compile().unwrap();
    let error = graph.run(()).await.unwrap_err().to_string();
    assert!(
        error.starts_with("node `a` failed: the question `way`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_router_that_fails_behind_its_answer_is_asked_again_without_its_node() {
    let tries = Arc::new(AtomicUsize::new(0));
    let mut graph = visiting(&["a", "b"]);
    let counted = Arc::clone(&tries);
    graph.add_edge(START, "a").add_router(
        "a",
        move |_: &Trail, cx: &Context| -> Result<String, NodeError> {
            let way = cx.interrupt("way", "where?")?;
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                return Err(NodeError::msg("the bridge is up"));
            }
            Ok(way)
        },
    );
    let graph = kept(&graph);
    graph.run(()).thread("t").await.unwrap();
    let error = graph.thread("t").answer("b").await.unwrap_err();
    assert_eq!(error.to_string(), "node `a` failed: the bridge is up");
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.tasks[0].error.as_deref(), Some("the bridge is up"));
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.visits, ["a@1", "b@2"]);
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_fork_runs_the_node_and_its_routers_again() {
    let graph = kept(&fork_in_the_road());
    graph.run(()).thread("t").await.unwrap();
    let asked = graph.thread("t").state().await.unwrap().unwrap().id;
    graph.thread("t").answer("right").await.unwrap();
    let outcome = graph
        .thread("t")
        .resume("way", "left")
        .at(asked)
        .await
        .unwrap();
    // The copy is a superstep of its own.
    assert_eq!(outcome.finished().unwrap().visits, ["a@2", "left@3"]);
    let outcome = graph.thread("t").proceed().at(asked).await.unwrap();
    assert_eq!(keys(&outcome), [("a", "way")]);
}

#[tokio::test]
async fn an_update_from_outside_cannot_wait_for_a_routers_answer() {
    let graph = kept(&fork_in_the_road());
    graph.run(()).thread("t").await.unwrap();
    let update = || TrailUpdate::default().last("me".to_owned());
    let error = graph
        .thread("t")
        .update(update())
        .as_node("a")
        .await
        .unwrap_err();
    assert!(
        matches!(&error, AgentError::Checkpoint(CheckpointError::InvalidUpdate(text))
            if text.contains("a router of `a` interrupts")),
        "{error}"
    );
    let goes_left = StateUpdate::new(Command::goto("left").and_update(update())).as_node("a");
    graph
        .thread("t")
        .update_supersteps([[goes_left]])
        .await
        .unwrap();
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.visits, ["left@2"]);
}

#[tokio::test]
async fn an_input_beside_what_is_pending_may_ask_its_way() {
    let mut graph = visiting(&["a", "b", "extra"]);
    graph.add_router(START, |state: &Trail, cx: &Context| -> Way {
        if state.visits.is_empty() {
            return Ok("a".to_owned());
        }
        Ok(cx.interrupt("way", "where?")?)
    });
    wire(&mut graph, "a>b");
    graph.interrupt_before(["b"]);
    let graph = kept(&graph);
    graph.run(()).thread("t").await.unwrap();
    let more = TrailUpdate::default().visits(vec!["more".to_owned()]);
    graph.thread("t").add_input(more).await.unwrap();
    let outcome = graph.thread("t").proceed().await.unwrap();
    assert_eq!(keys(&outcome), [(START, "way")]);
    let state = graph.thread("t").answer("extra").await.unwrap();
    let state = state.finished().unwrap();
    assert_eq!(state.visits.join(" "), "a@1 more b@3 extra@4");
}

#[tokio::test]
async fn a_graph_that_a_router_calls_keeps_its_place() {
    fn asking(key: &'static str) -> CompiledStateGraph<String> {
        let mut graph = StateGraph::<String>::new();
        graph.add_node("ask", move |_: &String, cx: &Context| {
            cx.interrupt::<String>(key, key).map_err(NodeError::from)
        });
        graph.add_sequence(&["ask"]).compile().unwrap()
    }
    struct Inside(CompiledStateGraph<String>, CompiledStateGraph<String>);
    async fn node(_: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
        let answer = cx.run(&cx.resource::<Inside>()?.0, ()).await?;
        Ok(TrailUpdate::default().visits(vec![answer]))
    }
    async fn router(_: &Trail, cx: &Context) -> Way {
        cx.run(&cx.resource::<Inside>()?.1, ()).await
    }
    let mut graph = visiting(&["x"]);
    graph
        .add_node("a", node)
        .add_edge(START, "a")
        .add_router("a", router)
        .resource(Arc::new(Inside(
            asking("of the node"),
            asking("of the router"),
        )));
    let graph = kept(&graph);
    let outcome = graph.run(()).thread("t").await.unwrap();
    assert_eq!(keys(&outcome), [("ask", "of the node")]);
    let outcome = graph.thread("t").answer("Ada").await.unwrap();
    assert_eq!(keys(&outcome), [("ask", "of the router")]);
    let outcome = graph.thread("t").answer("x").await.unwrap();
    assert_eq!(outcome.finished().unwrap().visits, ["Ada", "x@2"]);

    let mut graph = visiting(&["x"]);
    graph
        .add_router(START, router)
        .resource(Arc::new(Inside(asking("-"), asking("of START's"))));
    let graph = kept(&graph);
    let outcome = graph.run(()).thread("t").await.unwrap();
    assert_eq!(keys(&outcome), [("ask", "of START's")]);
    let outcome = graph.thread("t").answer("x").await.unwrap();
    assert_eq!(outcome.finished().unwrap().visits, ["x@1"]);
}

#[tokio::test]
async fn streams_show_the_node_before_the_question_and_not_again() {
    let graph = kept(&fork_in_the_road());
    let modes = StreamMode::Updates | StreamMode::Tasks | StreamMode::Values;
    let names = |events: &[Event<Trail>]| -> Vec<String> {
        let name = |event: &Event<Trail>| match &event.kind {
            EventKind::Update { node, cached, .. } => format!("update {node} {cached}"),
            EventKind::Interrupt(asked) => format!("interrupt {}", asked.len()),
            EventKind::Values(state) => format!("values {}", state.visits.len()),
            EventKind::TaskFinished(task) => {
                format!("finished {} {}", task.node, task.interrupts.len())
            }
            kind => format!("{} {}", kind.name(), event.node().unwrap_or_default()),
        };
        events.iter().map(name).collect()
    };
    let mut events = Vec::new();
    let mut stream = graph.run(()).thread("t").stream(modes);
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    assert_eq!(
        names(&events),
        [
            "task_started a",
            "update a false",
            "interrupt 1",
            "finished a 1",
            "values 1"
        ]
    );
    events.clear();
    let mut stream = graph.thread("t").answer("left").stream(modes);
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    assert_eq!(
        names(&events),
        [
            "values 0",
            "update a true",
            "values 1",
            "task_started left",
            "update left false",
            "finished left 0",
            "values 2"
        ]
    );
}
