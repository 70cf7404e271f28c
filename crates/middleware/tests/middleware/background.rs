//! Memories that are found behind the answer.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::CompiledStateGraph;
use langgraph::node::Context;
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, MessagesState, MessagesStateUpdate, ModelError,
    ScriptedModel, Turn, async_trait, react_agent,
};
use langgraph_middleware::{Background, LongTermMemory};
use langgraph_store::{MemoryStore, Store, StoreExt as _, WithStore as _};
use langgraph_testing::replay;
use tokio::sync::Semaphore;

/// A model that answers when it may.
struct Waits {
    model: ScriptedModel,
    may: Arc<Semaphore>,
}

#[async_trait]
impl ChatModel for Waits {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        self.may.acquire().await.unwrap().forget();
        self.model.generate(request).await
    }
}

const CAT: &str = r#"{"memories": ["Has a cat."], "forget": []}"#;
const DOG: &str = r#"{"memories": ["Has a dog."], "forget": []}"#;

fn agent(
    extractor: impl ChatModel + 'static,
    background: &Background,
    store: &Arc<MemoryStore>,
) -> CompiledStateGraph<MessagesState> {
    let memory = LongTermMemory::new(|cx: &Context| {
        let user = cx.metadata("user").and_then(|user| user.as_str());
        ["memories", user.unwrap_or("guest")].into()
    });
    let memory = memory.extract_in(background, extractor);
    let model = ScriptedModel::new(["One.", "Two.", "Three."]);
    let agent = react_agent(model, ()).with(memory).compile().unwrap();
    agent.store(Arc::clone(store) as Arc<dyn Store>)
}

async fn ask(agent: &CompiledStateGraph<MessagesState>, user: &str) {
    let run = agent.run(MessagesStateUpdate::user("I have a cat."));
    run.metadata("user", user).await.unwrap();
}

async fn kept(store: &MemoryStore, namespace: &str) -> Vec<String> {
    let items = store.search([namespace]).await.unwrap();
    let mut kept: Vec<_> = items
        .iter()
        .map(|item| {
            format!(
                "{}: {}",
                item.namespace,
                item.value["text"].as_str().unwrap_or("-")
            )
        })
        .collect();
    kept.sort();
    kept
}

#[tokio::test]
async fn an_answer_does_not_wait_for_what_is_remembered_of_it() {
    let (store, background) = (Arc::new(MemoryStore::new()), Background::new());
    let may = Arc::new(Semaphore::new(0));
    let extractor = Waits {
        model: ScriptedModel::new([CAT]),
        may: Arc::clone(&may),
    };
    let agent = agent(extractor, &background, &store);
    // It ends, though the model that looks for memories has not answered.
    ask(&agent, "ada").await;
    assert!(kept(&store, "memories").await.is_empty());
    assert_eq!(kept(&store, "unread conversations").await.len(), 1);

    may.add_permits(1);
    background.finish().await;
    assert_eq!(kept(&store, "memories").await, ["memories/ada: Has a cat."]);
    assert!(kept(&store, "unread conversations").await.is_empty());
}

#[tokio::test]
async fn what_a_process_has_left_is_read_after_the_next_run_of_the_user() {
    let (store, background) = (Arc::new(MemoryStore::new()), Background::new());
    // The first process ends before its model has answered.
    let extractor = Waits {
        model: ScriptedModel::new([CAT]),
        may: Arc::new(Semaphore::new(0)),
    };
    ask(&agent(extractor, &Background::new(), &store), "ada").await;

    let next = agent(ScriptedModel::new([DOG, CAT, DOG]), &background, &store);
    ask(&next, "bob").await;
    background.finish().await;
    assert_eq!(kept(&store, "memories").await, ["memories/bob: Has a dog."]);
    ask(&next, "ada").await;
    background.finish().await;
    let of_both = [
        "memories/ada: Has a cat.",
        "memories/ada: Has a dog.",
        "memories/bob: Has a dog.",
    ];
    assert_eq!(kept(&store, "memories").await, of_both);
    assert!(kept(&store, "unread conversations").await.is_empty());
}

#[tokio::test]
async fn reading_that_fails_is_tried_five_times() {
    let (store, background) = (Arc::new(MemoryStore::new()), Background::new());
    let none = ScriptedModel::new(Vec::<Turn>::new());
    for _ in 0..2 {
        let agent = agent(none.clone(), &background, &store);
        for _ in 0..3 {
            ask(&agent, "ada").await;
            background.finish().await;
        }
    }
    // Each run tries all that are left: of six conversations, two have failed five times.
    assert_eq!(kept(&store, "unread conversations").await.len(), 4);
    assert!(kept(&store, "memories").await.is_empty());
}

#[tokio::test]
async fn a_replay_reads_nothing_anew() {
    let (store, background) = (Arc::new(MemoryStore::new()), Background::new());
    let saver = Arc::new(MemorySaver::new());
    let graph = agent(ScriptedModel::new([CAT]), &background, &store);
    let thread = graph.clone().checkpointer(saver.clone()).thread("t");
    thread
        .run(MessagesStateUpdate::user("I have a cat."))
        .await
        .unwrap();
    background.finish().await;

    // As it was when the thread began.
    let store = Arc::new(MemoryStore::new());
    let graph = graph.store(Arc::clone(&store) as Arc<dyn Store>);
    let report = replay(saver, &graph).await.unwrap();
    assert!(report.is_same(), "{report}");
    background.finish().await;
    for namespace in ["memories", "unread conversations"] {
        assert!(kept(&store, namespace).await.is_empty());
    }
}
