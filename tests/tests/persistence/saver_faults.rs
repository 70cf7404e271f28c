//! A saver that fails or hangs, wherever it may: nothing that was stored is lost, and the thread
//! goes on to the same end.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability, ThreadKey};
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph_tests::ByteSaver;

use langgraph_tests::fixtures::diary::{
    Diary, DiaryUpdate, World, ask, graph_in, memory, note, over, shown, state, unique, work_once,
    world, wrote,
};
use langgraph_tests::fixtures::faulty_saver::{Fault, Faulty, faulty};

/// What a client does to a thread, one after the other.
#[derive(Clone, Copy, Debug)]
enum Request {
    Input(&'static str),
    Answer(&'static str),
    Update(&'static str),
}

const TURNS: &[Request] = &[Request::Input("one"), Request::Input("two")];

const QUESTION: &[Request] = &[
    Request::Input("one"),
    Request::Answer("Ada"),
    Request::Input("two"),
    Request::Update("update"),
    Request::Input("three"),
    Request::Answer("Bob"),
];

async fn once(diary: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    work_once(cx, &unique(&format!("work of {}", cx.node()), diary)).await?;
    tokio::task::yield_now().await;
    let line = unique(cx.node(), diary);
    world(cx).effect(&line);
    Ok(wrote(line))
}

fn sequential(world: &Arc<World>) -> StateGraph<Diary> {
    let mut graph = graph_in(world);
    graph
        .add_node("a", note)
        .add_node("b", once)
        .add_node("c", note);
    graph.add_sequence(&["a", "b", "c"]);
    graph
}

fn parallel(world: &Arc<World>) -> StateGraph<Diary> {
    let mut graph = graph_in(world);
    for name in ["a", "c", "d", "e"] {
        graph.add_node(name, note);
    }
    graph.add_node("b", once).add_edge(START, "a");
    for name in ["b", "c"] {
        graph.add_edge("a", name);
    }
    graph.add_edge("c", "d").add_edge(["b", "d"], "e");
    graph
}

fn sends(world: &Arc<World>) -> StateGraph<Diary> {
    let mut graph = graph_in(world);
    let worker = graph.add_worker(
        "worker",
        async |item: String, diary: &Diary, cx: &Context| {
            tokio::task::yield_now().await;
            let line = unique(&item, diary);
            effect(cx, &line);
            wrote(line)
        },
    );
    let sent = worker.clone();
    graph
        .add_node("a", note)
        .add_node("more", move |_: &Diary| {
            Command::goto(Send::to(&sent, "own".to_owned())).and_update(wrote("more"))
        });
    graph.add_node("end", note).add_edge(START, "a");
    graph.add_map("a", |_| ["x".to_owned(), "y".to_owned()], &worker);
    graph.add_edge("a", "more").add_edge("worker", "end");
    graph
}

fn effect(cx: &Context, line: &str) {
    world(cx).effect(line);
}

fn asking(world: &Arc<World>) -> StateGraph<Diary> {
    let mut graph = graph_in(world);
    graph.add_node("a", note).add_node("ask", ask_at_first);
    graph.add_node("b", note).add_node("beside", once);
    graph
        .add_edge(START, "a")
        .add_edge("a", "ask")
        .add_edge("a", "beside");
    graph.add_edge(["ask", "beside"], "b");
    graph
}

/// Asks in a turn that was not updated from outside, and not in one that comes second.
async fn ask_at_first(diary: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    if diary
        .log
        .last()
        .is_some_and(|_| diary.log.contains(&"two".to_owned()))
        && !diary.log.contains(&"three".to_owned())
    {
        return Ok(wrote("no question"));
    }
    work_once(cx, &unique(&format!("work of {}", cx.node()), diary)).await?;
    ask(diary, cx).await
}

fn nested(world: &Arc<World>) -> StateGraph<Diary> {
    let inner = sequential(world).compile().unwrap();
    let mut graph = graph_in(world);
    graph.add_node("before", note).add_node("inner", inner);
    graph
        .add_node("after", note)
        .add_sequence(&["before", "inner", "after"]);
    graph
}

fn nested_asking(world: &Arc<World>) -> StateGraph<Diary> {
    let inner = asking(world).compile().unwrap();
    let mut graph = graph_in(world);
    graph
        .add_node("inner", inner.clone())
        .add_node("beside", note);
    graph.add_node("after", note).add_edge(START, "inner");
    graph.add_edge(START, "beside").add_edge("inner", "after");
    graph
}

fn routed(world: &Arc<World>) -> StateGraph<Diary> {
    let mut graph = graph_in(world);
    graph.add_node("a", note).add_node("b", note);
    graph.add_router(START, |diary: &Diary| {
        if diary.log.last().is_some_and(|last| last == "one") {
            "a"
        } else {
            "b"
        }
    });
    graph.add_router("a", async |diary: &Diary| {
        tokio::task::yield_now().await;
        if diary.log.len() < 4 { "a" } else { END }
    });
    graph
}

/// What the client sends. It comes back only when that has come to its end.
async fn request(
    graph: &CompiledStateGraph<Diary>,
    request: Request,
    durability: Durability,
) -> Result<(), AgentError> {
    let run = match request {
        Request::Input(input) => graph.run(wrote(input)).thread("t"),
        Request::Answer(answer) => graph.thread("t").resume("name", answer),
        Request::Update(update) => {
            return graph
                .thread("t")
                .update(wrote(update))
                .as_node(START)
                .await
                .map(|_| ());
        }
    };
    run.durability(durability).await.map(|_| ())
}

/// A client with a time-out: what hangs is dropped.
async fn bounded(
    run: impl Future<Output = Result<(), AgentError>>,
) -> Result<(), Option<AgentError>> {
    match tokio::time::timeout(Duration::from_secs(60), run).await {
        Ok(result) => result.map_err(Some),
        Err(_) => Err(None),
    }
}

/// How a thread has ended.
#[derive(Debug, PartialEq)]
struct End {
    log: Vec<String>,
    history: Vec<String>,
}

/// Plays all requests on a saver of which one call goes wrong; returns how many calls there were.
async fn play(
    build: fn(&Arc<World>) -> StateGraph<Diary>,
    requests: &[Request],
    durability: Durability,
    saver: &Arc<dyn Checkpointer>,
    fault: Option<(usize, Fault)>,
) -> (usize, bool, End) {
    let world = World::new();
    let faulty = faulty(saver, fault);
    let as_saver: Arc<dyn Checkpointer> = Arc::<Faulty>::clone(&faulty);
    let graph = over(&build(&world), &as_saver);
    // The same thread past the fault.
    let quiet = over(&build(&world), saver);
    let root = ThreadKey::root("t");
    let mut faults = 0;
    for &each in requests {
        let head = saver.head(&root).await.unwrap();
        let Err(error) = bounded(request(&graph, each, durability)).await else {
            continue;
        };
        if let Some(error) = &error {
            assert!(error.to_string().contains("the disk is away"), "{error}");
        }
        faults += 1;
        assert_eq!(faults, 1, "{error:?}");
        // Wait for all background writes.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let stored = match quiet.thread("t").state().await.unwrap() {
            None => Vec::new(),
            Some(state) => state.values.log,
        };
        let committed = quiet.thread("t").history().await.unwrap();
        let before = world.effects().len();
        // The client looks whether its request has arrived, and sends it again if not.
        if saver.head(&root).await.unwrap() == head {
            request(&graph, each, durability).await.unwrap();
        } else if !matches!(each, Request::Update(_)) {
            graph
                .thread("t")
                .proceed()
                .durability(durability)
                .await
                .unwrap();
        }
        for effect in &world.effects()[before..] {
            assert!(!stored.contains(effect), "{effect} again, after {stored:?}");
        }
        let after = quiet.thread("t").history().await.unwrap();
        let kept = &after[after.len() - committed.len()..];
        let ids = |history: &[langgraph::checkpoint::Snapshot<Diary>]| {
            history
                .iter()
                .map(|snapshot| snapshot.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(kept), ids(&committed));
    }
    for effect in world.effects() {
        // What was under way is done again.
        let times = world.times(&effect);
        assert!(times <= 1 + faults, "{effect} {times} times");
    }
    let end = End {
        log: state(&quiet, "t").await.values.log,
        history: shown(&quiet, "t").await,
    };
    let hit_release = faulty.intercept().hit_release.load(Ordering::SeqCst);
    (faulty.intercept().calls(), faults > 0 || hit_release, end)
}

fn bytes() -> Arc<dyn Checkpointer> {
    Arc::new(ByteSaver::default())
}

async fn survives_faults(build: fn(&Arc<World>) -> StateGraph<Diary>, requests: &[Request]) {
    let savers = [
        (Durability::Sync, memory as fn() -> _),
        (Durability::Async, memory),
        (Durability::Exit, memory),
        (Durability::Sync, bytes),
    ];
    for (durability, open) in savers {
        let (calls, _, expected) = play(build, requests, durability, &open(), None).await;
        assert!(calls > requests.len());
        for at in 0..calls {
            for fault in Fault::ALL {
                let place = format!("{durability:?}, {fault:?} at {at} of {calls}");
                let saver = open();
                let played = play(build, requests, durability, &saver, Some((at, fault)));
                let (_, faulted, end) = played.await;
                assert!(faulted, "{place}: nothing has gone wrong");
                assert_eq!(end.log, expected.log, "{place}");
                // A run that is stored when it ends says where it failed.
                let failure = "the disk is away";
                let exit = durability == Durability::Exit;
                let history = end.history.iter();
                let failures = history.filter(|line| exit && line.contains(failure));
                if failures.count() == 0 {
                    assert_eq!(end.history, expected.history, "{place}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_anywhere_in_a_sequence() {
    survives_faults(sequential, TURNS).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_anywhere_beside_others() {
    survives_faults(parallel, TURNS).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_anywhere_among_sends() {
    survives_faults(sends, TURNS).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_anywhere_around_a_question() {
    survives_faults(asking, QUESTION).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_anywhere_in_a_subgraph() {
    survives_faults(nested, TURNS).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_anywhere_around_a_question_in_a_subgraph() {
    survives_faults(nested_asking, &QUESTION[..3]).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_anywhere_between_routers() {
    survives_faults(routed, TURNS).await;
}
