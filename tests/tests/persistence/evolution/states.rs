//! States whose fields have changed.

use std::error::Error;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use serde_json::Value;

use super::{BOTH, on};

/// What the program was.
mod first {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(super) struct Order {
        pub(super) client: String,
        pub(super) euros: f64,
        #[reducer(append)]
        pub(super) log: Vec<String>,
        pub(super) gone: Option<u8>,
    }
}

/// Fields were renamed, removed and added.
mod second {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(super) struct Order {
        #[state(alias = "buyer", alias = "client")]
        pub(super) customer: String,
        pub(super) euros: f64,
        #[reducer(append)]
        #[state(alias = "log")]
        pub(super) notes: Vec<String>,
        pub(super) added: Option<String>,
    }
}

/// A field has another meaning.
mod third {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    #[state(version = 3, migrate = in_cents)]
    pub(super) struct Order {
        #[state(alias = "client")]
        pub(super) customer: String,
        pub(super) cents: u64,
        #[reducer(append)]
        pub(super) log: Vec<String>,
    }

    fn in_cents(version: u32, mut update: Value) -> Result<Value, Box<dyn Error + Send + Sync>> {
        assert!(version < 3);
        if let Some(euros) = update["euros"].as_f64() {
            if euros < 0.0 {
                return Err("a debt is not negative".into());
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let cents = (euros * 100.0).round() as u64;
            update["cents"] = Value::from(cents);
        }
        Ok(update)
    }
}

fn graph<S: State + Default>(note: fn() -> S::Update) -> StateGraph<S>
where
    S::Update: langgraph::node::IntoOutput<S>,
{
    let mut graph = StateGraph::<S>::new();
    graph
        .add_node("note", move |_: &S| note())
        .add_node("wait", move |_: &S| note())
        .add_sequence(&["note", "wait"])
        .interrupt_before(["wait"]);
    graph
}

fn before() -> StateGraph<first::Order> {
    graph::<first::Order>(|| first::OrderUpdate::default().log(vec!["first".to_owned()]))
}

fn order() -> first::Order {
    first::Order {
        client: "Ada".to_owned(),
        euros: 12.5,
        log: vec!["ordered".to_owned()],
        gone: Some(1),
    }
}

#[tokio::test]
async fn j8_fields_that_were_renamed_removed_and_added_are_read() {
    let store = Arc::new(MemorySaver::new());
    let old = on(&before(), &store, true);
    old.run(order()).thread("t").await.unwrap();

    let new =
        graph::<second::Order>(|| second::OrderUpdate::default().notes(vec!["second".to_owned()]));
    let new = on(&new, &store, true);
    let done = new.thread("t").proceed().await.unwrap();
    let expected = second::Order {
        customer: "Ada".to_owned(),
        euros: 12.5,
        notes: ["ordered", "first", "second"].map(str::to_owned).to_vec(),
        added: None,
    };
    assert_eq!(*done.state(), expected);
    // The log holds both names, and is read from either side of the change.
    let state = new.thread("t").state().await.unwrap().unwrap();
    assert_eq!(state.values, expected);
}

#[tokio::test]
async fn j8_older_versions_are_migrated() {
    let store = Arc::new(MemorySaver::new());
    let old = on(&before(), &store, true);
    old.run(order()).thread("t").await.unwrap();

    let new = graph::<third::Order>(|| third::OrderUpdate::default().log(vec!["third".to_owned()]));
    let new = on(&new, &store, true);
    let done = new.thread("t").proceed().await.unwrap();
    assert_eq!(
        *done.state(),
        third::Order {
            customer: "Ada".to_owned(),
            cents: 1250,
            log: ["ordered", "first", "third"].map(str::to_owned).to_vec(),
        }
    );
    let logs: Vec<_> = new.thread("t").history().await.unwrap();
    assert_eq!(logs.last().unwrap().values, third::Order::default());
}

#[tokio::test]
async fn j8_a_migration_that_fails_is_an_error_of_the_thread() {
    let store = Arc::new(MemorySaver::new());
    let old = on(&before(), &store, true);
    let order = first::Order {
        euros: -1.0,
        ..order()
    };
    old.run(order).thread("t").await.unwrap();
    let new = graph::<third::Order>(third::OrderUpdate::default);
    let error = on(&new, &store, true)
        .thread("t")
        .proceed()
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("thread `t`"), "{text}");
    assert!(text.contains("a debt is not negative"), "{text}");
}

#[tokio::test]
async fn j8_what_a_newer_version_has_written_is_an_error_that_says_so() {
    let store = Arc::new(MemorySaver::new());
    let new = graph::<third::Order>(third::OrderUpdate::default);
    on(&new, &store, true).run(()).thread("t").await.unwrap();

    let old = on(&before(), &store, true);
    let error = old.thread("t").proceed().await.unwrap_err();
    assert!(matches!(
        error,
        AgentError::Checkpoint(CheckpointError::Unreadable { .. })
    ));
    let text = error.to_string();
    assert!(text.contains("thread `t`"), "{text}");
    assert!(
        text.contains("it was written by version 3 of `persistence::evolution::states::first::Order`, and this is version 0"),
        "{text}"
    );
}

#[tokio::test]
async fn a_state_of_the_same_version_needs_no_migration() {
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        let graph = graph::<third::Order>(|| third::OrderUpdate::default().cents(7));
        on(&graph, &store, bytes).run(()).thread("t").await.unwrap();
        let done = on(&graph, &store, bytes)
            .thread("t")
            .proceed()
            .await
            .unwrap();
        assert_eq!(done.state().cents, 7);
    }
}
