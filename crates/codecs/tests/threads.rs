//! Threads of graphs in all formats.
#![allow(clippy::unwrap_used)] // in what several tests share

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::checkpoint::{Encoded, Formats, Json, MemorySaver};
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::thread::Keep;
use langgraph_codecs::{Encrypted, Key, MessagePack, Zstd};
use langgraph_sql::rows::RowKind;
use langgraph_testing::replay;
use langgraph_tests::OverMemory;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Survey {
    #[reducer(append)]
    answers: Vec<String>,
    #[reducer(merge_map)]
    scores: BTreeMap<String, f64>,
    best: Option<f64>,
}

async fn ask(_: &Survey, cx: &Context) -> Result<SurveyUpdate, NodeError> {
    let name: String = cx.interrupt("name", "who are you?")?;
    Ok(SurveyUpdate::default().answers(vec![name]))
}

async fn score(name: String) -> SurveyUpdate {
    let length = u32::try_from(name.len()).unwrap();
    SurveyUpdate::default().scores(BTreeMap::from([(name, f64::from(length) / 3.0)]))
}

fn graph() -> StateGraph<Survey> {
    let mut graph = StateGraph::<Survey>::new();
    graph
        .add_node("greet", |_: &Survey| {
            SurveyUpdate::default().answers(vec!["a secret greeting".to_owned()])
        })
        .add_node("ask", ask)
        .add_node("best", |state: &Survey| {
            let best = state.scores.values().copied().reduce(f64::max);
            SurveyUpdate::default().best(best)
        });
    graph.add_worker("score", score);
    graph
        .add_edge(START, "greet")
        .add_edge("greet", "ask")
        .add_router("ask", |state: &Survey| {
            let names = state.answers.iter().cloned();
            names
                .map(|name| Send::to("score", name))
                .collect::<Vec<_>>()
        })
        .add_edge("score", "best")
        .add_edge("best", END);
    graph
}

fn kept(
    store: &Arc<MemorySaver>,
    formats: Formats,
) -> (CompiledStateGraph<Survey>, Arc<OverMemory>) {
    let saver = OverMemory::new(store, formats);
    let graph = graph().compile().unwrap().checkpointer(Arc::clone(&saver));
    (graph, saver)
}

fn all() -> Vec<Formats> {
    let key = || Key::new("k", &[1; 32]);
    vec![
        Formats::default(),
        Formats::new(MessagePack),
        Formats::new(Zstd::new(Json)),
        Formats::new(Zstd::new(MessagePack)),
        Formats::new(Encrypted::new(Json, key())),
        Formats::new(Encrypted::new(Zstd::new(MessagePack), key())),
    ]
}

#[tokio::test]
async fn a_thread_comes_back_in_every_format() {
    let plain = graph().compile().unwrap();
    let plain = plain.checkpointer(Arc::new(MemorySaver::new()));
    plain.run(()).thread("t").await.unwrap();
    let expected = plain.thread("t").resume("name", "Ada").await.unwrap();
    let expected = expected.state();
    assert_eq!(expected.best, Some(17.0 / 3.0));

    for formats in all() {
        let store = Arc::new(MemorySaver::new());
        let name = format!("{formats:?}");
        let (first, _) = kept(&store, formats.clone());
        let paused = first.run(()).thread("t").await.unwrap();
        assert_eq!(paused.interrupts().len(), 1, "{name}");
        // Another program continues.
        let (second, _) = kept(&store, formats);
        let done = second.thread("t").resume("name", "Ada").await.unwrap();
        assert_eq!(done.state(), expected, "{name}");
        let history = second.thread("t").history().await.unwrap();
        let steps: Vec<_> = history.iter().map(|snapshot| snapshot.step).collect();
        assert_eq!(steps, [4, 3, 2, 1, 0, -1], "{name}");
        assert_eq!(&history[0].values, expected, "{name}");
    }
}

#[tokio::test]
async fn a_thread_is_replayed_from_every_format() {
    for formats in all() {
        let name = format!("{formats:?}");
        let store = Arc::new(MemorySaver::new());
        let (stored, saver) = kept(&store, formats);
        let thread = stored.thread("t");
        thread.run(()).await.unwrap();
        thread.resume("name", "Ada").await.unwrap();

        let report = replay(Arc::clone(&saver), &graph().compile().unwrap());
        let report = report.await.unwrap();
        assert!(report.is_same(), "{name}: {report}");
        assert_eq!(report.threads[0].supersteps, 5, "{name}: {report}");

        // What follows a kept node is computed anew, in a log without its beginning too.
        thread.prune(Keep::Newest(3)).await.unwrap();
        let mut other = graph();
        other.add_edge("score", END);
        let report = replay(saver, &other.compile().unwrap());
        let report = report.keep(["score"]).await.unwrap();
        assert!(report.is_same(), "{name}: {report}");
        assert_eq!(report.threads[0].supersteps, 2, "{name}: {report}");
    }
}

#[tokio::test]
async fn several_formats_in_one_log_are_read_by_their_tags() {
    let key = || Key::new("k", &[1; 32]);
    let store = Arc::new(MemorySaver::new());
    let (json, _) = kept(&store, Formats::default());
    json.run(()).thread("t").await.unwrap();

    let secret = || Formats::new(Encrypted::new(Zstd::new(MessagePack), key()));
    // A migration asks for plain JSON by name.
    let (refuses, _) = kept(&store, secret());
    let error = refuses.thread("t").state().await.unwrap_err().to_string();
    assert!(
        error.contains("`json`") && error.contains(".and_read("),
        "{error}"
    );
    let (secret, saver) = kept(&store, secret().and_read(Json));
    secret.thread("t").resume("name", "Ada").await.unwrap();
    let tags = saver.rows().into_iter().filter_map(|row| row.payload);
    let tags: Vec<_> = tags.map(|payload| payload.format.to_string()).collect();
    assert!(tags.iter().all(|tag| tag == "aead+zstd+messagepack"));
    assert!(tags.len() > 3);

    let (json, _) = kept(&store, Formats::default());
    let error = json.thread("t").state().await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`aead+zstd+messagepack`"), "{text}");
    assert!(text.contains("thread `t`"), "{text}");

    let reads = Formats::default().and_read(Encrypted::new(Zstd::new(MessagePack), key()));
    let (json, _) = kept(&store, reads);
    let state = json.thread("t").state().await.unwrap().unwrap();
    assert_eq!(state.values.answers, ["a secret greeting", "Ada"]);
    assert_eq!(state.values.best, Some(17.0 / 3.0));
}

#[tokio::test]
async fn what_does_not_come_back_fails_the_run_and_names_the_field() {
    let mut graph = StateGraph::<Survey>::new();
    graph
        .add_node("divide", |_: &Survey| {
            SurveyUpdate::default().scores(BTreeMap::from([("Ada".to_owned(), f64::NAN)]))
        })
        .add_sequence(&["divide"]);
    let graph = graph.compile().unwrap();
    let run = async |formats: Formats| {
        let store = Arc::new(MemorySaver::new());
        let saver = OverMemory::new(&store, formats);
        let graph = graph.clone().checkpointer(saver);
        let outcome = graph.run(()).thread("t").await;
        outcome.map(|outcome| outcome.state().scores["Ada"])
    };
    assert!(run(Formats::new(MessagePack)).await.unwrap().is_nan());

    let error = run(Formats::new(Zstd::new(Json)))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("field `scores.Ada`: `NaN` cannot be stored as JSON"),
        "{error}"
    );
    assert!(error.contains("node `divide`"), "{error}");

    // The key of the map is a part of the value, and so a secret.
    let secret = Encrypted::new(Json, Key::new("k", &[1; 32]));
    let error = run(Formats::new(secret)).await.unwrap_err().to_string();
    assert!(
        error.contains("field `scores`: it cannot be stored as json"),
        "{error}"
    );
    assert!(!error.contains("Ada"), "{error}");
}

#[tokio::test]
async fn no_payload_of_an_encrypted_thread_is_readable() {
    let store = Arc::new(MemorySaver::new());
    let secret = Encrypted::new(Json, Key::new("k", &[1; 32]));
    let (graph, saver) = kept(&store, Formats::new(secret));
    graph.run(()).thread("t").await.unwrap();
    graph.thread("t").resume("name", "Ada").await.unwrap();
    let secret = b"a secret greeting";
    let rows = saver.rows();
    assert!(rows.iter().any(|row| row.kind == RowKind::Argument));
    for payload in rows.iter().filter_map(|row| row.payload.as_ref()) {
        let mut parts = payload.bytes.windows(secret.len());
        assert!(!parts.any(|part| part == secret));
    }
    for row in rows {
        assert!(!row.text.contains("a secret greeting"), "{}", row.text);
    }
}

/// The same thread, in another version of the program.
mod later {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    #[state(version = 1, migrate = halved)]
    pub(super) struct Sample {
        pub(super) by_number: BTreeMap<u32, f64>,
        #[state(alias = "raw")]
        pub(super) bytes: Vec<u8>,
    }

    fn halved(
        version: u32,
        mut update: serde_json::Value,
    ) -> Result<serde_json::Value, Box<dyn std::error::Error + std::marker::Send + Sync>> {
        assert_eq!(version, 0);
        for number in update["by_number"].as_object_mut().into_iter().flatten() {
            *number.1 = (number.1.as_f64().ok_or("no number")? / 2.0).into();
        }
        Ok(update)
    }
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Sample {
    by_number: BTreeMap<u32, f64>,
    raw: Vec<u8>,
}

#[tokio::test]
async fn what_json_cannot_hold_is_migrated_all_the_same() {
    let key = || Key::new("k", &[1; 32]);
    for formats in [
        Formats::new(MessagePack),
        Formats::new(Encrypted::new(Zstd::new(MessagePack), key())),
    ] {
        let store = Arc::new(MemorySaver::new());
        let mut graph = StateGraph::<Sample>::new();
        graph
            .add_node("a", |state: &Sample| state.clone())
            .add_sequence(&["a"]);
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(OverMemory::new(&store, formats.clone()));
        let sample = Sample {
            by_number: BTreeMap::from([(7, 3.0)]),
            raw: vec![1, 255],
        };
        graph.run(sample).thread("t").await.unwrap();

        let mut graph = StateGraph::<later::Sample>::new();
        graph
            .add_node("a", |state: &later::Sample| state.clone())
            .add_sequence(&["a"]);
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(OverMemory::new(&store, formats));
        let state = graph.thread("t").state().await.unwrap().unwrap().values;
        assert_eq!(state.by_number, BTreeMap::from([(7, 1.5)]));
        assert_eq!(state.bytes, [1, 255]);
    }
}

#[tokio::test]
async fn plain_text_in_place_of_ciphertext_is_refused() {
    let key = || Key::new("k", &[1; 32]);
    for formats in [
        Formats::new(Encrypted::new(Json, key())),
        Formats::new(Encrypted::new(MessagePack, key())),
        Formats::new(Zstd::new(Encrypted::new(Json, key()))),
    ] {
        let honest = formats.encode(&"hello", 0).unwrap();
        assert_eq!(formats.decode::<String>(&honest).unwrap(), "hello");
        for tag in ["json", "messagepack", "zstd+json"] {
            let forged = Encoded::new(tag, 0, &b"\"forged\""[..]);
            let error = formats.decode::<String>(&forged).unwrap_err().to_string();
            assert!(error.contains(&format!("`{tag}`")), "{error}");
            assert_eq!(formats.json(&forged), None);
        }
    }
}

/// The same state with a field of another type.
mod retyped {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(super) struct Survey {
        #[reducer(append)]
        pub(super) answers: Vec<u32>,
        pub(super) best: Option<f64>,
    }
}

#[tokio::test]
async fn a_value_of_another_type_names_its_field_and_no_secret() {
    for formats in all() {
        let (store, secret) = (Arc::new(MemorySaver::new()), formats.clone());
        let (graph, saver) = kept(&store, formats);
        graph.run(()).thread("t").await.unwrap();
        let mut other = StateGraph::<retyped::Survey>::new();
        other.set_name(graph.topology().name.clone());
        other
            .add_node("ask", |_: &retyped::Survey| ())
            .add_sequence(&["ask"]);
        let other = other.compile().unwrap().checkpointer(saver);
        let error = other.thread("t").state().await.unwrap_err().to_string();
        assert!(
            error.contains("cannot be read: field `answers`: "),
            "{secret:?}: {error}"
        );
        assert_eq!(error.matches("`answers`").count(), 1, "{error}");
    }
}
