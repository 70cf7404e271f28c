//! Long-term memory: handed to nodes, shared by threads, apart by namespace.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_conformance::store as conformance;
use langgraph_store::prelude::*;
use langgraph_store::{
    Answer, Filter, Indexing, Item, ManualClock, MemoryStore, Namespace, Op, Put, Search,
    StoreError, StoreOptions, Ttl, async_trait,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[tokio::test]
async fn the_store_in_memory_conforms() {
    let report =
        conformance::run(
            async |options| Ok(Arc::new(MemoryStore::with(options)) as Arc<dyn Store>),
        );
    let report = report.await;
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 30, "{report}");
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Chat {
    user: String,
    said: String,
    #[reducer(append)]
    answers: Vec<String>,
}

fn says(user: &str, said: &str) -> ChatUpdate {
    ChatUpdate::default().user(user.into()).said(said.into())
}

#[node]
async fn remember(chat: &Chat, cx: &Context) -> Result<(), StoreError> {
    if let Some(fact) = chat.said.strip_prefix("remember: ") {
        let fact = json!({"fact": fact, "thread": cx.thread_id()});
        cx.store()?
            .put(["facts", &chat.user], "last", &fact)
            .await?;
    }
    Ok(())
}

#[node]
async fn recall(chat: &Chat, cx: &Context) -> Result<ChatUpdate, StoreError> {
    let found = cx.store()?.search(["facts", &chat.user]).await?;
    let facts = found.iter().map(|item| item.value["fact"].to_string());
    Ok(ChatUpdate::default().answers(facts.collect()))
}

fn assistant() -> CompiledStateGraph<Chat> {
    let graph = graph! { type State = Chat; START => remember => recall => END };
    graph.compile().unwrap()
}

#[tokio::test]
async fn e13_a_node_in_thread_2_reads_what_thread_1_put() {
    let graph = assistant()
        .checkpointer(Arc::new(MemorySaver::new()))
        .store(Arc::new(MemoryStore::new()));
    graph
        .run(says("ada", "remember: likes tea"))
        .thread("1")
        .await
        .unwrap();
    let state = graph
        .run(says("ada", "hi"))
        .thread("2")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.answers, [r#""likes tea""#]);
}

#[derive(Serialize, Deserialize, Default)]
struct Session {
    said: Vec<String>,
}

/// Loads what was said in the session before, and adds what is said now.
#[node]
async fn session_memory(chat: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    let store = cx.store()?;
    let session = cx.metadata("session_id").and_then(|id| id.as_str());
    let place = ["sessions", session.ok_or(NodeError::msg("no session"))?];
    let mut memory: Session = store.get_as(place, "memory").await?.unwrap_or_default();
    let answers = memory.said.clone();
    memory.said.push(chat.said.clone());
    store.put(place, "memory", &memory).await?;
    Ok(ChatUpdate::default().answers(answers))
}

#[tokio::test]
async fn e14_memory_is_loaded_by_session_id_and_another_session_is_empty() {
    let graph = graph! { type State = Chat; START => session_memory => END };
    let graph = graph.compile().unwrap().store(Arc::new(MemoryStore::new()));
    let ask = async |session: &str, said: &str| {
        let run = graph.run(says("ada", said)).metadata("session_id", session);
        run.await.unwrap().finished().unwrap().answers
    };
    assert!(ask("s-1", "one").await.is_empty());
    assert_eq!(ask("s-1", "two").await, ["one"]);
    assert!(ask("s-2", "three").await.is_empty());
    assert_eq!(ask("s-1", "four").await, ["one", "two"]);
}

#[tokio::test]
async fn a_graph_without_a_store_says_how_to_give_it_one() {
    let error = assistant().invoke(says("ada", "hi")).await.unwrap_err();
    let AgentError::Node { source, .. } = &error else {
        panic!("{error}");
    };
    let missing = source.downcast_ref::<StoreError>();
    assert!(matches!(missing, Some(StoreError::NoStore)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("there is no store; give one to the graph with"),
        "{text}"
    );
}

#[tokio::test]
async fn the_store_of_a_run_takes_the_place_of_the_graphs() {
    let own = Arc::new(MemoryStore::new());
    own.put(["facts", "ada"], "last", &json!({"fact": "of the run"}))
        .await
        .unwrap();
    let graph = assistant().store(Arc::new(MemoryStore::new()));
    let run = graph.run(says("ada", "hi")).store(own);
    assert_eq!(
        run.await.unwrap().finished().unwrap().answers,
        [r#""of the run""#]
    );
    assert!(
        graph
            .invoke(says("ada", "hi"))
            .await
            .unwrap()
            .answers
            .is_empty()
    );
}

#[tokio::test]
async fn a_store_given_to_a_copy_of_a_graph_leaves_the_other_as_it_was() {
    let plain = assistant();
    let stored = plain.clone().store(Arc::new(MemoryStore::new()));
    stored.invoke(says("ada", "remember: x")).await.unwrap();
    assert!(plain.invoke(says("ada", "hi")).await.is_err());
}

#[tokio::test]
async fn a_subgraph_sees_the_store_around_it_unless_it_has_its_own() {
    let around = Arc::new(MemoryStore::new());
    around
        .put(["facts", "ada"], "last", &json!({"fact": "around"}))
        .await
        .unwrap();
    let own = Arc::new(MemoryStore::new());
    own.put(["facts", "ada"], "last", &json!({"fact": "own"}))
        .await
        .unwrap();

    let mut graph = StateGraph::<Chat>::new();
    graph
        .add_node("with", assistant().store(own))
        .add_node("without", assistant())
        .add_sequence(&["with", "without"]);
    let graph = graph.compile().unwrap().store(around);
    let state = graph.invoke(says("ada", "hi")).await.unwrap();
    assert_eq!(state.answers, [r#""own""#, r#""around""#]);
}

#[tokio::test]
async fn a_value_of_another_type_is_an_error_that_names_it() {
    let store = MemoryStore::new();
    store
        .put(["a", "b"], "k", &json!({"said": 7}))
        .await
        .unwrap();
    let error = store
        .get_as::<Session>(["a", "b"], "k")
        .await
        .err()
        .unwrap();
    let text = error.to_string();
    assert!(
        text.starts_with("the value of `k` in namespace `a/b` is no `store::Session`: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_value_that_is_no_json_is_refused() {
    let store = MemoryStore::new();
    let pairs = std::collections::BTreeMap::from([((1, 2), 3)]);
    let error = store.put(["a"], "k", &pairs).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the value of `k` in namespace `a` cannot be stored: "),
        "{text}"
    );
}

#[tokio::test]
async fn a_value_that_would_come_back_changed_is_refused_with_its_place() {
    let store = MemoryStore::new();
    let value = vec![Some(0.5), Some(f64::NAN)];
    let error = store.put(["a"], "k", &value).await.unwrap_err().to_string();
    assert!(error.contains("[1]") && error.contains("NaN"), "{error}");
    let visits = std::collections::HashMap::from([(7_u64, "Ada".to_owned())]);
    store.put(["a"], "visits", &visits).await.unwrap();
    assert_eq!(store.get_as(["a"], "visits").await.unwrap(), Some(visits));
}

#[tokio::test]
async fn an_item_can_be_written_as_json() {
    let clock = Arc::new(ManualClock::new());
    let store = MemoryStore::with(StoreOptions::default().clock(clock.clone()));
    store.put(["a", "b"], "k", &json!({"n": 1})).await.unwrap();
    clock.advance(Duration::from_secs(2));
    store.put(["a", "b"], "k", &json!({"n": 2})).await.unwrap();
    let items: Vec<Item> = store
        .search(["a"])
        .filter(Filter::eq("n", 2))
        .await
        .unwrap();
    let text = serde_json::to_value(&items[0]).unwrap();
    assert_eq!(text["namespace"], json!(["a", "b"]));
    assert_eq!(text["value"], json!({"n": 2}));
    let later = text["updated_at"].as_u64().unwrap() - text["created_at"].as_u64().unwrap();
    assert_eq!(later, 2000);
}

#[tokio::test(start_paused = true)]
async fn expiry_follows_the_paused_time_of_a_test() {
    let store = MemoryStore::new();
    let minute = Duration::from_secs(60);
    store
        .put(["codes"], "u-1", &1234)
        .ttl(minute)
        .await
        .unwrap();
    let there = async || {
        store
            .get(["codes"], "u-1")
            .refresh(false)
            .await
            .unwrap()
            .is_some()
    };
    tokio::time::sleep(Duration::from_millis(59_999)).await;
    assert!(there().await);
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(!there().await);
}

type Change<T> = fn(&mut Vec<T>);

/// A store with a fault: what it is asked, or what it answers, is changed on the way.
struct Faulty {
    inner: MemoryStore,
    asked: Change<Op>,
    answered: Change<Answer>,
}

#[async_trait]
impl Store for Faulty {
    async fn batch(&self, mut ops: Vec<Op>) -> Result<Vec<Answer>, StoreError> {
        (self.asked)(&mut ops);
        let mut answers = self.inner.batch(ops).await?;
        (self.answered)(&mut answers);
        Ok(answers)
    }

    async fn sweep(&self) -> Result<usize, StoreError> {
        self.inner.sweep().await
    }
}

fn searches(ops: &mut [Op], change: fn(&mut Search)) {
    for op in ops {
        if let Op::Search(search) = op {
            change(search);
        }
    }
}

fn puts(ops: &mut [Op], change: fn(&mut Put)) {
    for op in ops {
        if let Op::Put(put) = op {
            change(put);
        }
    }
}

fn items(answers: &mut [Answer], change: fn(&mut Vec<Item>)) {
    for answer in answers {
        if let Answer::Items(items) = answer {
            change(items);
        }
    }
}

async fn fails(asked: Change<Op>, answered: Change<Answer>) -> Vec<&'static str> {
    let report = conformance::run(async |options| {
        let inner = MemoryStore::with(options);
        let store = Faulty {
            inner,
            asked,
            answered,
        };
        Ok(Arc::new(store) as Arc<dyn Store>)
    });
    report
        .await
        .failed
        .into_iter()
        .map(|(case, _)| case)
        .collect()
}

#[tokio::test]
async fn the_suite_finds_what_is_wrong_with_a_store() {
    let nothing = |_: &mut Vec<Op>| {};
    let same = |_: &mut Vec<Answer>| {};
    assert!(fails(nothing, same).await.is_empty());

    let faults: [(Change<Op>, &str); 10] = [
        (
            |ops| searches(ops, |search| search.filter = None),
            "filters_are_combined",
        ),
        (
            |ops| searches(ops, |search| search.offset = 0),
            "searches_come_in_pages",
        ),
        (
            |ops| searches(ops, |search| search.query = None),
            "the_nearest_come_first_with_their_scores",
        ),
        (
            |ops| searches(ops, |search| search.refresh = None),
            "a_search_starts_the_time_of_what_it_returns",
        ),
        (
            |ops| searches(ops, |search| search.prefix = Namespace::root()),
            "a_search_sees_its_namespace_and_below",
        ),
        (
            |ops| puts(ops, |put| put.ttl = Ttl::Never),
            "what_has_expired_is_gone_without_a_sweep",
        ),
        (
            |ops| puts(ops, |put| put.indexing = Indexing::Default),
            "only_what_is_embedded_is_found_by_a_query",
        ),
        // Names joined by dots.
        (
            |ops| {
                puts(ops, |put| {
                    put.namespace = put.namespace.labels().join(".").into();
                });
            },
            "namespaces_are_never_mistaken_for_each_other",
        ),
        (|ops| ops.reverse(), "a_batch_is_done_in_order"),
        (
            |ops| puts(ops, |put| put.value = round(&put.value)),
            "values_come_back_as_they_were_put",
        ),
    ];
    for (fault, expected) in faults {
        let failed = fails(fault, same).await;
        assert!(
            failed.contains(&expected),
            "{expected} is not among {failed:?}"
        );
    }
    let faults: [(Change<Answer>, &str); 3] = [
        (
            |answers| items(answers, |items| items.reverse()),
            "the_newest_come_first",
        ),
        (
            |answers| {
                items(answers, |items| {
                    for item in items {
                        item.score = None;
                    }
                });
            },
            "random_batches_are_answered_as_in_memory",
        ),
        (
            |answers| {
                for answer in answers {
                    if let Answer::Namespaces(namespaces) = answer {
                        namespaces.push(Namespace::root());
                    }
                }
            },
            "what_is_missing_is_none",
        ),
    ];
    for (fault, expected) in faults {
        let failed = fails(nothing, fault).await;
        assert!(
            failed.contains(&expected),
            "{expected} is not among {failed:?}"
        );
    }
}

/// Whole numbers instead of floats.
fn round(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(array) => array.iter().map(round).collect(),
        serde_json::Value::Number(number) if number.is_f64() => json!(0),
        other => other.clone(),
    }
}
