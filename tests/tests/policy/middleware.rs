//! Middleware around nodes.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::NodeTimeout;
use langgraph::graph::worker;
use langgraph::node::{NodeRun, Output};
use langgraph::policy::{CachePolicy, Middleware, NodeCall, RetryPolicy, middleware};
use langgraph::prelude::*;
use langgraph_testing::{DebugNode, StateLog};
use langgraph_tests::fixtures::time_limit::ends_paused;

use langgraph_tests::fixtures::lines::{Boom, Log, LogUpdate, Recorder, line, ms, single};

/// Notes what it sees, under a name of its own.
struct Watch(&'static str, Recorder);

impl<S: State> Middleware<S> for Watch {
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        NodeRun::future(async move {
            let Self(name, notes) = self;
            let item = call
                .item()
                .map(|item| format!(" {item}"))
                .unwrap_or_default();
            let seen = format!("{name} {}{item}", call.node());
            notes.note(format!(
                "{seen} step {} attempt {}",
                call.step(),
                call.attempt()
            ));
            let answer = call.run().await;
            notes.note(match &answer {
                Ok(output) => format!("{seen} wrote {}", output.writes().len()),
                Err(error) => format!("{seen} failed: {error}"),
            });
            answer
        })
    }
}

fn watch(name: &'static str) -> (Watch, Recorder) {
    let notes = Recorder::default();
    (Watch(name, notes.clone()), notes)
}

#[tokio::test]
async fn b20_a_wrapper_sees_every_node_also_with_a_checkpointer() {
    async fn shout(item: String) -> LogUpdate {
        line(item.to_uppercase())
    }
    let (watch, notes) = watch("w");
    let mut graph = StateGraph::<Log>::new();
    let inner = single(|_: &Log| line("inner")).compile().unwrap();
    graph
        .add_node("a", |_: &Log| line("a"))
        .middleware(watch)
        .add_node("sub", inner)
        .add_sequence(&["a", "sub"]);
    // Added after the middleware: it is around this one as well.
    let shout = graph.add_worker("shout", worker(shout));
    graph.add_map("sub", |_: &Log| ["x".to_owned()], &shout);
    let graph = graph.compile().unwrap();
    let saved = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
    let expected = [
        "w a step 1 attempt 1",
        "w a wrote 1",
        "w sub step 2 attempt 1",
        "w sub wrote 1",
        "w shout \"x\" step 3 attempt 1",
        "w shout \"x\" wrote 1",
    ];
    for run in [
        graph.run(Log::default()),
        saved.run(Log::default()).thread("t"),
    ] {
        assert_eq!(run.await.unwrap().state().lines, ["a", "inner", "X"]);
        assert_eq!(notes.take(), expected);
    }
}

#[tokio::test]
async fn b20_the_first_added_is_outermost_and_the_graphs_are_around_the_nodes() {
    let notes = Recorder::default();
    let watch = |name| Watch(name, notes.clone());
    let mut graph = single(
        (|_: &Log| line("x"))
            .middleware(watch("3"))
            .middleware(watch("4")),
    );
    graph
        .add_node("other", |_: &Log| ())
        .add_chain(&["node", "other"]);
    graph
        .middleware(watch("1"))
        .middleware(Arc::new(watch("2")));
    graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    let order: Vec<_> = notes
        .take()
        .iter()
        .map(|note| note.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let node = [
        "1 node", "2 node", "3 node", "4 node", "4 node", "3 node", "2 node", "1 node",
    ];
    let other = ["1 other", "2 other", "2 other", "1 other"];
    assert_eq!(order, [&node[..], &other[..]].concat());
}

#[tokio::test]
async fn b20_a_wrapper_may_change_the_answer_or_give_its_own() {
    let replaces = middleware(|call: NodeCall<'_, Log>| {
        NodeRun::future(async move {
            call.run().await?;
            Ok::<_, NodeError>(line("replaced"))
        })
    });
    let graph = single((|_: &Log| line("own")).middleware(replaces))
        .compile()
        .unwrap();
    assert_eq!(
        graph.invoke(Log::default()).await.unwrap().lines,
        ["replaced"]
    );

    let skips = middleware(|_: NodeCall<'_, Log>| NodeRun::ready(Output::none()));
    let unreachable = |_: &Log| -> LogUpdate { unreachable!("it is skipped") };
    let graph = single(unreachable.middleware(skips)).compile().unwrap();
    assert!(graph.invoke(Log::default()).await.unwrap().lines.is_empty());
}

#[test]
fn b20_a_wrapper_sees_each_attempt_its_timeout_and_its_panic() {
    ends_paused(|| async {
        async fn flaky(_: &Log, cx: &Context) -> Result<LogUpdate, Boom> {
            match cx.attempt() {
                1 => std::future::pending().await,
                2 => panic!("second"),
                3 => Err(Boom("third")),
                _ => Ok(line("done")),
            }
        }
        let (watch, notes) = watch("w");
        let policy = RetryPolicy::attempts(4).immediately();
        let mut graph = single(flaky.retry(policy).timeout(ms(100)));
        graph.middleware(watch);
        graph
            .compile()
            .unwrap()
            .invoke(Log::default())
            .await
            .unwrap();
        let timeout = "exceeded its run timeout of 100ms";
        let expected = [
            "w node step 1 attempt 1".to_owned(),
            format!("w node failed: {timeout}"),
            "w node step 1 attempt 2".to_owned(),
            "w node failed: panicked: second".to_owned(),
            "w node step 1 attempt 3".to_owned(),
            "w node failed: third".to_owned(),
            "w node step 1 attempt 4".to_owned(),
            "w node wrote 1".to_owned(),
        ];
        assert_eq!(notes.take(), expected);
    });
}

#[tokio::test(start_paused = true)]
async fn b20_what_a_wrapper_waits_for_is_not_the_nodes_time() {
    let patient = middleware(|call: NodeCall<'_, Log>| {
        NodeRun::future(async move {
            tokio::time::sleep(ms(1000)).await;
            call.run().await
        })
    });
    let graph = single((|_: &Log| line("done")).timeout(ms(10)).middleware(patient));
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["done"]);
}

#[tokio::test]
async fn b20_a_wrapper_may_fail_the_node_and_its_error_is_retried() {
    let second_try = middleware(|call: NodeCall<'_, Log>| {
        if call.attempt() == 1 {
            return NodeRun::ready(Err::<(), _>(Boom("not at once")));
        }
        call.run()
    });
    let node = |_: &Log, cx: &Context| line(format!("attempt {}", cx.attempt()));
    let policy = RetryPolicy::attempts(2).immediately();
    let graph = single(node.middleware(second_try).retry(policy))
        .compile()
        .unwrap();
    assert_eq!(
        graph.invoke(Log::default()).await.unwrap().lines,
        ["attempt 2"]
    );
}

#[tokio::test]
async fn b20_a_wrapper_does_not_see_a_node_that_does_not_run() {
    let (watch, notes) = watch("w");
    let mut graph = single((|_: &Log| line("x")).cache(CachePolicy::input()));
    graph.middleware(watch);
    let graph = graph.compile().unwrap();
    graph.invoke(Log::default()).await.unwrap();
    assert_eq!(notes.take().len(), 2);
    graph.invoke(Log::default()).await.unwrap();
    assert!(notes.take().is_empty());
}

#[tokio::test]
async fn b20_a_wrapper_sees_a_question_as_an_error_and_does_not_hide_it() {
    let swallow = middleware(|call: NodeCall<'_, Log>| {
        NodeRun::future(async move {
            match call.run().await {
                Err(error) if error.is::<NodeTimeout>() => Ok(Output::none()),
                answer => answer,
            }
        })
    });
    let ask = |_: &Log, cx: &Context| -> Result<LogUpdate, NodeError> {
        Ok(line(cx.interrupt::<String>("name", "who?")?))
    };
    let graph = single(ask.middleware(swallow))
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run(Log::default()).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
}

#[tokio::test]
async fn c15_f9_a_debug_node_shows_the_state_and_leaves_it_alone() {
    let notes = Recorder::default();
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("double", |n: &i64| n * 2)
        .add_node("look", DebugNode::to(notes.clone()))
        .add_sequence(&["double", "look"]);
    let graph = graph.compile().unwrap();
    let mut events = graph.run(21).stream(StreamMode::Updates);
    let mut wrote = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Update { node, update, .. } = event.unwrap().kind {
            wrote.push((node.to_string(), update.len()));
        }
    }
    assert_eq!(wrote, [("double".to_owned(), 1), ("look".to_owned(), 0)]);
    assert_eq!(events.finish().await.unwrap().finished().unwrap(), 42);
    assert_eq!(notes.take().concat(), "look (step 2): 42\n");
}

#[tokio::test]
async fn f9_a_state_log_shows_what_each_node_is_given_and_what_came_of_it() {
    let notes = Recorder::default();
    let flaky = |n: &i64, cx: &Context| match cx.attempt() {
        1 => Err(Boom("no luck")),
        _ => Ok(n + 1),
    };
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("double", |n: &i64| n * 2)
        .add_node("flaky", flaky.retry(RetryPolicy::attempts(2).immediately()))
        .add_sequence(&["double", "flaky"])
        .middleware(StateLog::to(notes.clone()));
    assert_eq!(graph.compile().unwrap().invoke(3).await.unwrap(), 7);
    let expected = "[1] double <- 3\n\
                    [1] double -> 1 write\n\
                    [2] flaky <- 6\n\
                    [2] flaky -> failed: no luck\n\
                    [2] flaky (attempt 2) <- 6\n\
                    [2] flaky (attempt 2) -> 1 write\n";
    assert_eq!(notes.take().concat(), expected);
}
