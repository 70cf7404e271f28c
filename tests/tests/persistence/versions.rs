//! Versions of a graph side by side, and the check of stored threads, in `langgraph-versions`.

use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph::prelude::*;
use langgraph_tests::ByteSaver;
use langgraph_tests::fixtures::diary::{Diary, DiaryUpdate, wrote};
use langgraph_versions::{Versions, check_threads};

fn ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let said: String = cx.interrupt("what", "What?")?;
    Ok(wrote(said))
}

fn named<S: State + Default>(name: &str) -> StateGraph<S> {
    let mut graph = StateGraph::new();
    graph.set_name(name);
    graph
}

/// A graph that asks, and then goes through `nodes`.
fn graph(saver: &Arc<ByteSaver>, nodes: &[&'static str]) -> CompiledStateGraph<Diary> {
    let mut graph = named::<Diary>("texts");
    graph.add_node("ask", ask).add_edge(START, "ask");
    let mut last = "ask";
    for node in nodes {
        let node = *node;
        graph
            .add_node(node, move |_: &Diary| wrote(node))
            .add_edge(last, node);
        last = node;
    }
    graph.compile().unwrap().checkpointer(saver.clone())
}

#[tokio::test]
async fn m6_a_waiting_thread_goes_on_with_its_version_until_it_is_migrated() {
    let saver = Arc::new(ByteSaver::default());
    let (v1, v2) = (graph(&saver, &["one"]), graph(&saver, &["one", "two"]));
    for thread in ["stays", "moves"] {
        v1.run(()).thread(thread).await.unwrap();
    }
    let versions = Versions::new().add(v1).add(v2);
    versions.migrate("moves").await.unwrap();
    // The mark is stored: another process has nothing but the saver.
    let versions = Versions::new()
        .add(graph(&saver, &["one"]))
        .add(graph(&saver, &["one", "two"]));
    for (thread, wanted) in [
        ("stays", &["hi", "one"][..]),
        ("moves", &["hi", "one", "two"]),
    ] {
        let thread = versions.thread(thread).await.unwrap();
        assert_eq!(thread.answer("hi").await.unwrap().state().log, wanted);
    }
    // Their runs have ended: the next one is of the newest version.
    let stays = versions.thread("stays").await.unwrap();
    stays.run(()).await.unwrap();
    let stays = versions.thread("stays").await.unwrap();
    let done = stays.answer("again").await.unwrap();
    assert_eq!(done.state().log, ["hi", "one", "again", "one", "two"]);
    let new = versions.thread("new").await.unwrap();
    new.run(()).await.unwrap();
    assert_eq!(new.answer("hi").await.unwrap().state().log.len(), 3);
}

#[tokio::test]
async fn m6_a_migration_lasts_while_the_same_superstep_waits_again() {
    let saver = Arc::new(ByteSaver::default());
    let both = |nodes: &[&'static str]| {
        let mut graph = named::<Diary>("texts");
        graph.add_node("a", ask).add_node("b", ask);
        graph.add_edge(START, "a").add_edge(START, "b");
        for node in nodes {
            let node = *node;
            graph
                .add_node(node, move |_: &Diary| wrote(node))
                .add_edge(["a", "b"], node);
        }
        graph.compile().unwrap().checkpointer(saver.clone())
    };
    let (v1, v2) = (both(&[]), both(&["end"]));
    let asked = v1.run(()).thread("t").await.unwrap();
    let versions = Versions::new().add(v1).add(v2);
    let thread = versions.migrate("t").await.unwrap();
    let ids: Vec<_> = asked
        .interrupts()
        .iter()
        .map(|asked| asked.id.clone())
        .collect();
    // Only one of two questions: no checkpoint follows yet.
    thread.resume(&*ids[0], "a").await.unwrap();
    let thread = versions.thread("t").await.unwrap();
    let done = thread.resume(&*ids[1], "b").await.unwrap();
    assert_eq!(done.state().log, ["a", "b", "end"]);
}

#[tokio::test]
async fn m6_a_thread_that_the_newest_version_cannot_go_on_with_is_not_migrated() {
    let saver = Arc::new(ByteSaver::default());
    let v1 = graph(&saver, &["one"]);
    v1.run(()).thread("t").await.unwrap();
    let mut other = named::<Diary>("texts");
    other
        .add_node("other", |_: &Diary| wrote("other"))
        .add_sequence(&["other"]);
    let v2 = other.compile().unwrap().checkpointer(saver.clone());

    let versions = Versions::new().add(v1).add(v2.clone());
    let refused = versions.migrate("t").await.unwrap_err().to_string();
    assert!(
        refused.contains("thread `t` waits for node `ask`"),
        "{refused}"
    );
    let done = versions
        .thread("t")
        .await
        .unwrap()
        .answer("hi")
        .await
        .unwrap();
    assert_eq!(done.state().log, ["hi", "one"]);

    // Its version is gone from the list.
    let v1 = graph(&saver, &["one"]);
    v1.run(()).thread("u").await.unwrap();
    assert!(Versions::new().add(v2).thread("u").await.is_err());
    // One that can go on with it takes it.
    let versions = Versions::new().add(graph(&saver, &["three"]));
    let done = versions
        .thread("u")
        .await
        .unwrap()
        .answer("hi")
        .await
        .unwrap();
    assert_eq!(done.state().log, ["hi", "three"]);
    assert!(Versions::<Diary>::new().newest().is_err());
}

/// The same fields under other types.
mod changed {
    use langgraph::prelude::*;

    #[derive(State, Clone, Debug, Default)]
    pub(crate) struct Diary {
        pub(crate) log: u32,
    }
}

#[tokio::test]
async fn m6_the_check_says_which_threads_are_blocked_and_why() {
    let saver = Arc::new(ByteSaver::default());
    let v1 = graph(&saver, &["one"]);
    for thread in ["asks-1", "asks-2", "done"] {
        v1.run(()).thread(thread).await.unwrap();
    }
    v1.thread("done").answer("hi").await.unwrap();
    // A subgraph that waits.
    let mut outer = named::<Diary>("texts");
    let inner = |node: &'static str| {
        let mut inner = named::<Diary>("inner");
        inner.add_node(node, ask).add_sequence(&[node]);
        inner.compile().unwrap()
    };
    outer.add_node("ask", inner("deep")).add_sequence(&["ask"]);
    let nested = outer.compile().unwrap().checkpointer(saver.clone());
    nested.run(()).thread("inside").await.unwrap();
    // A thread of another graph over the same saver.
    let mut other = named::<i64>("numbers");
    other
        .add_node("one", |n: &i64| n + 1)
        .add_sequence(&["one"]);
    let other = other.compile().unwrap().checkpointer(saver.clone());
    other.run(1).thread("number").await.unwrap();

    let before = saver
        .head(&langgraph::checkpoint::ThreadKey::root("asks-1"))
        .await
        .unwrap();
    let report = check_threads(saver.clone(), &v1).await.unwrap();
    // `ask` is a function here: it runs from its start.
    assert_eq!(report.blocked().count(), 0, "{report}");
    assert_eq!(report.threads.len(), 4);

    let mut renamed = named::<Diary>("texts");
    renamed
        .add_node("ask", inner("deeper"))
        .add_sequence(&["ask"]);
    let report = check_threads(saver.clone(), &renamed.compile().unwrap())
        .await
        .unwrap();
    let blocked: Vec<_> = report.blocked().map(|check| &*check.thread).collect();
    assert_eq!(blocked, ["inside"], "{report}");
    let text = report.to_string();
    assert!(
        text.contains("waits for node `ask/deep`, which graph `inner` does not have"),
        "{text}"
    );
    assert!(
        text.ends_with("4 threads, 4 of other versions, 1 blocked"),
        "{text}"
    );

    let old = nested.topology().fingerprint();
    assert!(report.versions_to_keep().into_iter().eq([old]));
    let keep = format!(
        "that version {old:016x} wrote, keep that version beside this one until they have ended: `Versions::new().add(old).add(new)`"
    );
    assert!(text.contains(&keep), "{text}");

    let mut typed = named::<changed::Diary>("texts");
    typed
        .add_node("ask", |_: &changed::Diary| ())
        .add_sequence(&["ask"]);
    let report = check_threads(saver.clone(), &typed.compile().unwrap())
        .await
        .unwrap();
    assert_eq!(report.blocked().count(), 4, "{report}");
    assert!(report.versions_to_keep().is_empty());
    assert!(
        report.to_string().contains("holds states of type"),
        "{report}"
    );

    let after = saver
        .head(&langgraph::checkpoint::ThreadKey::root("asks-1"))
        .await
        .unwrap();
    assert_eq!(before, after);
}
