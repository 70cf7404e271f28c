//! Work that is done once.

use std::sync::Arc;

use langgraph::checkpoint::Durability;
use langgraph::node::OnceKey;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use tokio::sync::Notify;

use langgraph_tests::fixtures::diary::{
    Diary, DiaryUpdate, World, graph_in, in_memory, log_of, memory, note, over, work_once, world,
    wrote,
};

/// Works once, and fails behind it while the world is broken.
async fn pay(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let receipt = work_once(cx, "charge").await?;
    world(cx).effect(format!("attempt {}", cx.attempt()));
    world(cx).works()?;
    Ok(wrote(format!("receipt {receipt}")))
}

/// Works once, then asks.
async fn pay_and_ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let receipt = work_once(cx, "charge").await?;
    let name: String = cx.interrupt("name", "who?")?;
    let second = work_once(cx, "mail").await?;
    Ok(wrote(format!("{name} {receipt} {second}")))
}

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

#[tokio::test]
async fn j4_work_survives_a_retry() {
    async fn flaky(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
        let receipt = work_once(cx, "charge").await?;
        if cx.attempt() < 3 {
            return Err(NodeError::msg("not yet"));
        }
        Ok(wrote(format!("receipt {receipt}")))
    }
    let retry = RetryPolicy::attempts(3).retry_on(|_| true).immediately();
    for siblings in [0, 1] {
        let world = World::new();
        let mut graph = graph_in(&world);
        graph.add_node("flaky", flaky.retry(retry.clone()));
        graph.add_edge(START, "flaky");
        if siblings > 0 {
            graph.add_node("beside", note).add_edge(START, "beside");
        }
        let without_thread = graph.compile().unwrap().invoke(()).await.unwrap();
        assert_eq!(without_thread.log[0], "receipt 1");
        assert_eq!(world.times("charge"), 1);
        let graph = in_memory(&graph);
        let state = graph.run(()).thread("t").await.unwrap().finished().unwrap();
        assert_eq!(state.log[0], "receipt 2");
        assert_eq!(world.times("charge"), 2);
    }
}

#[tokio::test]
async fn j4_work_before_a_question_is_not_done_again_by_the_answer() {
    for durability in DURABILITIES {
        let world = World::new();
        let mut graph = graph_in(&world);
        graph.add_node("pay", pay_and_ask).add_sequence(&["pay"]);
        let graph = in_memory(&graph);
        let run = graph.run(()).thread("t").durability(durability);
        assert_eq!(run.await.unwrap().interrupts().len(), 1);
        let run = graph
            .thread("t")
            .resume("name", "Ada")
            .durability(durability);
        assert_eq!(run.await.unwrap().finished().unwrap().log, ["Ada 1 1"]);
        assert_eq!(world.effects(), ["charge", "mail"], "{durability:?}");
    }
}

#[tokio::test]
async fn j4_work_before_a_failure_is_not_done_again_by_going_on() {
    for durability in DURABILITIES {
        let world = World::new();
        let mut graph = graph_in(&world);
        graph.add_node("pay", pay).add_sequence(&["pay"]);
        let graph = in_memory(&graph);
        world.set_broken(true);
        let run = graph.run(()).thread("t").durability(durability);
        run.await.unwrap_err();
        graph
            .thread("t")
            .proceed()
            .durability(durability)
            .await
            .unwrap_err();
        world.set_broken(false);
        let run = graph.thread("t").proceed().durability(durability);
        assert_eq!(run.await.unwrap().finished().unwrap().log, ["receipt 1"]);
        assert_eq!(world.times("charge"), 1, "{durability:?}");
        assert_eq!(world.times("attempt 1"), 3, "{durability:?}");
    }
}

#[tokio::test]
async fn j4_work_survives_its_process() {
    async fn pay_and_hang(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
        let receipt = work_once(cx, "charge").await?;
        if let Ok(paid) = cx.resource::<Notify>() {
            paid.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(wrote(format!("receipt {receipt}")))
    }
    for siblings in [0, 1] {
        let world = World::new();
        let build = || {
            let mut graph = graph_in(&world);
            graph.add_node("pay", pay_and_hang).add_edge(START, "pay");
            if siblings > 0 {
                graph.add_node("beside", note).add_edge(START, "beside");
            }
            graph
        };
        let saver = memory();
        let paid = Arc::new(Notify::new());
        let run = over(&build(), &saver).run(()).thread("t");
        let run = tokio::spawn(run.resource(Arc::clone(&paid)).into_future());
        paid.notified().await;
        run.abort();
        assert!(run.await.unwrap_err().is_cancelled());

        let graph = over(&build(), &saver);
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log[0], "receipt 1");
        assert_eq!(world.times("charge"), 1);
    }
}

#[tokio::test]
async fn the_same_key_with_other_arguments_is_an_error() {
    async fn pay(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
        let world = world(cx);
        let amount = if world.works().is_ok() { 100 } else { 7 };
        let receipt = cx
            .once_with(OnceKey::new("charge").with(&amount), || {
                world.effect(format!("charge {amount}"));
                Ok::<_, NodeError>(amount)
            })
            .await?;
        let _: String = cx.interrupt("name", "who?")?;
        Ok(wrote(format!("{receipt}")))
    }
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("pay", pay).add_sequence(&["pay"]);
    let graph = in_memory(&graph);
    graph.run(()).thread("t").await.unwrap();
    world.set_broken(true);
    let error = graph.thread("t").resume("name", "Ada").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `pay` failed: `charge` was done before with other arguments; work with other arguments needs a key of its own: \
         in a loop, put the index into it, as in `(\"charge\", index)`"
    );
    // The thread is none the worse for it.
    world.set_broken(false);
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.log, ["100"]);
    assert_eq!(world.effects(), ["charge 100"]);
}

/// A loop does each piece of its work once, also under a key with a value.
#[tokio::test]
async fn a_key_with_a_value_is_a_key_of_its_own_for_each_value() {
    async fn undo(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
        let world = world(cx);
        let mut log = Vec::new();
        for index in 0..3_u32 {
            let work = || {
                world.effect(format!("undo {index}"));
                Ok::<_, NodeError>(format!("undone {index}"))
            };
            // By value and by reference alike.
            let done: String = if index == 1 {
                cx.once_with(("undo", &index), work).await?
            } else {
                cx.once_with(("undo", index), work).await?
            };
            log.push(done);
        }
        let _: String = cx.interrupt("name", "who?")?;
        Ok(DiaryUpdate::default().log(log))
    }
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("undo", undo).add_sequence(&["undo"]);
    let graph = in_memory(&graph);
    graph.run(()).thread("t").await.unwrap();
    let state = graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(
        state.finished().unwrap().log,
        ["undone 0", "undone 1", "undone 2"]
    );
    assert_eq!(world.effects(), ["undo 0", "undo 1", "undo 2"]);
}

#[tokio::test]
async fn work_that_failed_is_tried_again() {
    async fn pay(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
        let world = world(cx);
        let work = || {
            world.effect("tried");
            world.works().map(|()| 5)
        };
        let receipt: i64 = cx.once_with("charge", work).await?;
        Ok(wrote(format!("{receipt}")))
    }
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("pay", pay).add_sequence(&["pay"]);
    let graph = in_memory(&graph);
    world.set_broken(true);
    graph.run(()).thread("t").await.unwrap_err();
    world.set_broken(false);
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.log, ["5"]);
    assert_eq!(world.times("tried"), 2);
}

#[tokio::test]
async fn tasks_side_by_side_do_not_share_keys() {
    async fn each(item: i64, _: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
        let world = world(cx);
        let work = || {
            world.effect(format!("item {item}"));
            Ok::<_, NodeError>(item)
        };
        let done: i64 = cx.once_with("work", work).await?;
        let _: String = cx.interrupt("name", &item)?;
        Ok(wrote(format!("{done}")))
    }
    let world = World::new();
    let mut graph = graph_in(&world);
    let worker = graph.add_worker("each", each);
    graph.add_node("pay", pay_and_ask).add_edge(START, "pay");
    graph.add_map(START, |_| [1, 2, 3], &worker);
    let graph = in_memory(&graph);
    let paused = graph.run(()).thread("t").await.unwrap();
    assert_eq!(paused.interrupts().len(), 4);
    let answers = paused.interrupts().iter().map(|i| (i.id.clone(), "Ada"));
    let state = graph
        .thread("t")
        .resume_all(answers)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.log, ["Ada 1 1", "1", "2", "3"]);
    for effect in ["charge", "mail", "item 1", "item 2", "item 3"] {
        assert_eq!(world.times(effect), 1, "{effect}");
    }
}

#[tokio::test]
async fn j4_work_in_a_subgraph_and_around_it_is_done_once() {
    for durability in DURABILITIES {
        let world = World::new();
        let mut inner = StateGraph::<Diary>::new();
        inner.add_node("first", note).add_node("pay", pay_and_ask);
        inner.add_sequence(&["first", "pay"]);
        let inner = inner.compile().unwrap();
        let calls = inner.clone();
        let mut graph = graph_in(&world);
        graph
            .add_node("inner", inner)
            .add_node("caller", Caller(calls))
            .add_sequence(&["inner", "caller"]);
        let graph = in_memory(&graph);
        let run = graph.run(()).thread("t").durability(durability);
        assert_eq!(run.await.unwrap().interrupts().len(), 1);
        let run = graph
            .thread("t")
            .resume("name", "Ada")
            .durability(durability);
        assert_eq!(run.await.unwrap().interrupts().len(), 1);
        let run = graph
            .thread("t")
            .resume("name", "Bob")
            .durability(durability);
        assert!(run.await.unwrap().is_done());
        assert_eq!(world.times("around"), 1, "{durability:?}");
        // Once by each call of the graph.
        assert_eq!(world.times("charge"), 2, "{durability:?}");
        assert_eq!(world.times("mail"), 2, "{durability:?}");
    }
}

/// A node that works once, and then calls a graph.
struct Caller(CompiledStateGraph<Diary>);

impl Node<Diary> for Caller {
    fn run<'a>(&'a self, _: &'a Diary, cx: &'a Context) -> langgraph::node::NodeRun<'a, Diary> {
        langgraph::node::NodeRun::future(async move {
            work_once(cx, "around").await?;
            let state = cx.run(&self.0, ()).await?;
            Ok::<_, NodeError>(DiaryUpdate::default().log(state.log))
        })
    }
}

#[tokio::test]
async fn going_back_does_the_work_again() {
    let world = World::new();
    let mut graph = graph_in(&world);
    graph.add_node("pay", pay_and_ask).add_sequence(&["pay"]);
    let graph = in_memory(&graph);
    graph.run(()).thread("t").await.unwrap();
    graph.thread("t").resume("name", "Ada").await.unwrap();
    let history = graph.thread("t").history().await.unwrap();
    let before = history
        .iter()
        .find(|s| s.next.len() == 1 && &*s.next[0] == "pay");
    let fork = graph
        .thread("t")
        .proceed()
        .at(before.unwrap().id)
        .await
        .unwrap();
    assert_eq!(fork.interrupts().len(), 1);
    graph.thread("t").resume("name", "Bob").await.unwrap();
    assert_eq!(log_of(&graph, "t").await, ["Bob 2 2"]);
    assert_eq!(world.effects(), ["charge", "mail", "charge", "mail"]);
}
