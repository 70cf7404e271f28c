//! The handle for a thread: what it is, and that `at` is the same everywhere.

use std::sync::Arc;

use langgraph::checkpoint::{MemorySaver, Source, ThreadFilter};
use langgraph::error::{CheckpointError, SubgraphError};
use langgraph::prelude::*;

use langgraph_tests::fixtures::notes::{Vec2, Vec2Update, asking, chain, note};

fn wrote(line: &str) -> Vec2Update {
    Vec2Update::default().log(vec![line.to_owned()])
}

/// `a`, then a question, then `c`.
fn asks() -> CompiledStateGraph<Vec2> {
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("a", note("a"))
        .add_node("ask", asking("name"))
        .add_node("c", note("c"));
    graph.add_sequence(&["a", "ask", "c"]);
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn a_handle_is_made_before_its_thread_and_follows_it() {
    let graph = asks();
    let thread = graph.thread(String::from("t"));
    let other = thread.clone();
    assert_eq!(other.id(), "t");
    assert!(thread.state().await.unwrap().is_none());
    assert!(thread.history().await.unwrap().is_empty());
    assert!(thread.lineage().await.unwrap().is_empty());
    assert!(
        graph
            .threads()
            .list(ThreadFilter::new())
            .await
            .unwrap()
            .is_empty()
    );

    let asked = thread.run(wrote("in")).await.unwrap();
    assert_eq!(asked.interrupts()[0].key, "name");
    // The same as with the option of a run.
    let again = graph.run(wrote("in")).thread("u").await.unwrap();
    assert_eq!(again.state(), asked.state());

    assert_eq!(
        other.state().await.unwrap().unwrap().values.log,
        ["in", "a"]
    );
    let done = other
        .resume("name", "Ada")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.log, ["in", "a", "name: Ada", "c"]);
    assert_eq!(thread.state().await.unwrap().unwrap().values, done);
    let listed = graph.threads().list(ThreadFilter::new()).await.unwrap();
    let names: Vec<_> = listed.iter().map(|info| &*info.thread).collect();
    assert_eq!(names, ["t", "u"]);
}

#[tokio::test]
async fn a_graph_without_a_checkpointer_has_no_threads() {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("a", |n: &i64| n + 1).add_sequence(&["a"]);
    let graph = graph.compile().unwrap();
    let thread = graph.thread("t");
    let refused = [
        thread.state().await.unwrap_err(),
        thread.history().await.unwrap_err(),
        thread.lineage().await.unwrap_err(),
        thread.run(1).await.unwrap_err(),
        thread.proceed().await.unwrap_err(),
        thread.resume("key", 1).await.unwrap_err(),
        thread.update(1).await.unwrap_err(),
        thread.fork().await.unwrap_err(),
        thread.copy("u").await.unwrap_err(),
        thread.delete().await.unwrap_err(),
        thread.usage().await.unwrap_err(),
        graph.threads().list(ThreadFilter::new()).await.unwrap_err(),
    ];
    for error in refused {
        let missing = matches!(
            error,
            AgentError::Checkpoint(CheckpointError::NoCheckpointer(_))
        );
        assert!(missing, "{error}");
    }
}

#[tokio::test]
async fn at_a_checkpoint_the_thread_is_as_it_was_saved() {
    let thread = chain().thread("t");
    thread.run(10).await.unwrap();
    let history = thread.history().await.unwrap();
    for snapshot in &history {
        let then = thread.at(snapshot.id);
        let state = then.state().await.unwrap().unwrap();
        assert_eq!((state.id, state.values), (snapshot.id, snapshot.values));
        let whole = then.state_with_subgraphs().await.unwrap().unwrap();
        assert_eq!((whole.id, &whole.next), (snapshot.id, &snapshot.next));
        let lineage = then.lineage().await.unwrap();
        let expected: Vec<_> = history.iter().filter(|s| s.id <= snapshot.id).collect();
        assert_eq!(lineage.len(), expected.len());
        assert_eq!(lineage[0].id, snapshot.id);
        // The whole thread takes no notice.
        assert_eq!(then.history().await.unwrap().len(), history.len());
    }
    let unknown = "019a0000-0000-7000-8000-000000000000".parse().unwrap();
    assert!(thread.at(unknown).state().await.unwrap().is_none());
    let error = thread.at(unknown).lineage().await.unwrap_err();
    let expected = CheckpointError::UnknownCheckpoint {
        thread: "t".to_owned(),
        id: unknown,
    };
    assert_eq!(error.to_string(), AgentError::from(expected).to_string());
}

#[tokio::test]
async fn at_a_checkpoint_a_run_starts_from_there() {
    let graph = chain();
    let thread = graph.thread("t");
    thread.run(10).await.unwrap();
    let history = thread.history().await.unwrap();
    let after_a = thread.at(history[2].id);
    assert_eq!(after_a.state().await.unwrap().unwrap().values, 11);

    // The nodes behind it run again, on a branch of their own.
    assert_eq!(after_a.proceed().await.unwrap().finished().unwrap(), 13);
    let head = thread.state().await.unwrap().unwrap();
    assert_ne!(head.id, history[0].id);
    let branch = thread.lineage().await.unwrap();
    assert!(
        branch
            .iter()
            .any(|s| s.source == Source::Fork && s.parent == Some(history[2].id))
    );

    // So does an input, and an update.
    assert_eq!(after_a.run(100).await.unwrap().finished().unwrap(), 103);
    let made = after_a.update(50).as_node("b").await.unwrap();
    let head = thread.state().await.unwrap().unwrap();
    assert_eq!((head.id, head.parent), (made, Some(history[2].id)));
    assert_eq!(thread.proceed().await.unwrap().finished().unwrap(), 51);
    // What came after the checkpoint is kept.
    let end = thread.at(history[0].id).state().await.unwrap().unwrap();
    assert_eq!(end.values, 13);
}

#[tokio::test]
async fn at_a_question_it_is_answered_once_more() {
    let thread = asks().thread("t");
    thread.run(()).await.unwrap();
    let asked = thread.state().await.unwrap().unwrap();
    thread.answer("Ada").await.unwrap();
    let then = thread.at(asked.id);
    let by_key = then
        .resume("name", "Bob")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(by_key.log, ["a", "name: Bob", "c"]);
    let only = then.answer("Eve").await.unwrap().finished().unwrap();
    assert_eq!(only.log, ["a", "name: Eve", "c"]);
    let id = asked.interrupts[0].id.clone();
    let by_id = then
        .resume_all([(id, "Kim")])
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(by_id.log, ["a", "name: Kim", "c"]);

    let made = then.fork().await.unwrap();
    let forked = thread.state().await.unwrap().unwrap();
    assert_eq!((forked.id, forked.source), (made, Source::Fork));
    assert_eq!(forked.parent, asked.parent);
}

#[tokio::test]
async fn a_graph_inside_is_run_and_kept_by_its_thread() {
    let mut outer = StateGraph::<Vec2>::new();
    outer.add_node("inner", asks()).add_sequence(&["inner"]);
    let graph = outer.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(()).await.unwrap();
    let inner = thread.subgraph::<Vec2>("inner").unwrap();
    assert_eq!(inner.id(), "t");
    let refused = [
        ("run", inner.run(wrote("x")).await.unwrap_err()),
        ("proceed", inner.proceed().await.unwrap_err()),
        ("resume", inner.resume("name", "Ada").await.unwrap_err()),
        (
            "resume_all",
            inner.resume_all([("name", 1)]).await.unwrap_err(),
        ),
        ("answer", inner.answer("Ada").await.unwrap_err()),
        ("copy", inner.copy("u").await.unwrap_err()),
        ("usage", inner.usage().await.unwrap_err()),
    ];
    for (name, error) in refused {
        let AgentError::Subgraph(SubgraphError::PartOfThread { path, method, .. }) = &error else {
            panic!("{error}");
        };
        assert_eq!((&**path, *method), ("inner", name));
        let hint = format!("`graph.thread(\"t\").{name}(..)`");
        assert!(error.to_string().contains(&hint), "{error}");
    }
    // Nothing has happened meanwhile.
    let done = thread.answer("Ada").await.unwrap().finished().unwrap();
    assert_eq!(done.log, ["a", "name: Ada", "c"]);
}

#[tokio::test]
async fn a_graph_inside_whose_path_not_every_saver_can_store_is_refused_everywhere() {
    let inner = |n: &i64| n + 1;
    let inner = graph! { type State = i64; START => inner => END };
    let inner = inner.compile().unwrap();
    for (bytes, fits) in [(1_400, true), (1_500, false), (40_000, false)] {
        let name = "n".repeat(bytes);
        let mut graph = StateGraph::<i64>::new();
        graph.add_node(&name, inner.clone()).add_sequence(&[&name]);
        let graph = graph.compile().unwrap();
        // Without a thread, any name will do.
        assert_eq!(graph.invoke(1).await.unwrap(), 2);
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let run = graph.run(1).thread("t").await;
        assert_eq!(run.is_ok(), fits, "{bytes}");
        if let Err(error) = run {
            let text = error.to_string();
            assert!(text.contains("and at most 1536 are allowed"), "{text}");
        }
    }
}

#[tokio::test]
async fn a_name_that_not_every_saver_can_store_is_refused_everywhere() {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("a", |n: &i64| n + 1).add_sequence(&["a"]);
    let saver = Arc::new(MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);
    graph.run(1).thread("good").await.unwrap();
    for bad in ["a\0b", &"x".repeat(1_025)] {
        let thread = graph.thread(bad);
        let refused = [
            graph.run(1).thread(bad).await.map(drop),
            thread.state().await.map(drop),
            thread.history().await.map(drop),
            thread.update(1).create().await.map(drop),
            thread.add_input(1).create().await.map(drop),
            thread.delete().await,
            graph.thread("good").copy(bad).await,
        ];
        for refused in refused {
            let error = refused.unwrap_err();
            assert_eq!(
                error.kind(),
                langgraph::error::ErrorKind::InvalidInput,
                "{error}"
            );
            assert!(
                error.to_string().contains("no thread can be called"),
                "{error}"
            );
        }
    }
}
