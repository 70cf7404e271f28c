//! Memories that outlive a thread.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::CompiledStateGraph;
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph_agent::{
    MessagesState, MessagesStateUpdate, ModelError, ModelErrorKind, ScriptedModel, Turn,
    react_agent,
};
use langgraph_middleware::{LongTermMemory, MEMORIES, Rubric};
use langgraph_store::{
    Clock, HashingEmbedder, ManualClock, MemoryStore, Store, StoreExt as _, StoreOptions,
    WithStore as _,
};
use serde_json::json;

use super::support::{call, texts};

fn per_user() -> LongTermMemory {
    LongTermMemory::new(|cx: &Context| {
        let user = cx.metadata("user").and_then(|user| user.as_str());
        ["memories", user.unwrap_or("guest")].into()
    })
}

fn agent(
    model: &ScriptedModel,
    memory: LongTermMemory,
    store: &Arc<MemoryStore>,
) -> CompiledStateGraph<MessagesState> {
    let agent = react_agent(model.clone(), ()).with(memory).compile();
    agent.unwrap().store(Arc::clone(store) as Arc<dyn Store>)
}

async fn ask(
    agent: &CompiledStateGraph<MessagesState>,
    user: &str,
    question: &str,
) -> MessagesState {
    let run = agent.run(MessagesStateUpdate::user(question));
    run.metadata("user", user)
        .await
        .unwrap()
        .finished()
        .unwrap()
}

fn calls(name: &str, arguments: serde_json::Value) -> Turn {
    Turn::tool_calls([call("c1", name, arguments)])
}

#[tokio::test]
async fn a_model_saves_finds_replaces_and_forgets_for_one_user() {
    let store = Arc::new(MemoryStore::new());
    let model = ScriptedModel::new([
        calls("save_memory", json!({"text": "Drinks green tea."})),
        Turn::text("saved"),
        calls("search_memories", json!({"query": "which tea?"})),
        Turn::text("found"),
        calls("search_memories", json!({"query": "which tea?"})),
        Turn::text("of another user"),
    ]);
    let agent = agent(&model, per_user(), &store);
    let saved = ask(&agent, "ada", "I drink green tea.").await;
    let answer = texts(&saved.messages)[2].clone();
    let id = answer.rsplit(' ').next().unwrap().to_owned();
    let found = ask(&agent, "ada", "Tea?").await;
    assert_eq!(
        texts(&found.messages)[2],
        format!("- Drinks green tea. (id {id})")
    );
    let other = ask(&agent, "bob", "Tea?").await;
    assert_eq!(texts(&other.messages)[2], "nothing found");

    let model = ScriptedModel::new([
        calls(
            "save_memory",
            json!({"text": "Drinks coffee.", "replaces": id}),
        ),
        Turn::text("replaced"),
        calls("forget_memory", json!({"id": id})),
        Turn::text("was gone"),
    ]);
    let agent = super::memories::agent(&model, per_user(), &store);
    ask(&agent, "ada", "Coffee now.").await;
    let kept = store.search(["memories"]).await.unwrap();
    let kept: Vec<_> = kept.iter().map(|item| item.value["text"].clone()).collect();
    assert_eq!(kept, ["Drinks coffee."]);
    let gone = ask(&agent, "ada", "Forget the tea.").await;
    assert!(texts(&gone.messages)[2].starts_with("there is no memory"));
}

#[tokio::test]
async fn the_instructions_have_the_memories_that_fit_by_words_or_by_meaning() {
    let options = StoreOptions::default().embedder(HashingEmbedder::new(256));
    for store in [
        MemoryStore::new(),
        MemoryStore::with(options.fields(["text"])),
    ] {
        let store = Arc::new(store);
        let of_ada = ["memories", "ada"];
        for (key, text) in [
            ("1", "The cat is called Kit."),
            ("2", "Drinks green tea."),
            ("3", "Lives in Basel."),
        ] {
            store
                .put(of_ada, key, &json!({"text": text}))
                .await
                .unwrap();
        }
        let model = ScriptedModel::new(["Kit.", "Hm."]);
        let agent = agent(&model, per_user().recall(1), &store);
        let state = ask(&agent, "ada", "What is the cat called?").await;
        let known = MEMORIES.read(&state.middleware).unwrap();
        assert_eq!(known.len(), 1);
        assert_eq!(known[0].text, "The cat is called Kit.");
        let instructions = texts(&model.requests()[0].messages)[0].clone();
        assert!(
            instructions.ends_with("- The cat is called Kit. (id 1)"),
            "{instructions}"
        );
        ask(&agent, "bob", "What is the cat called?").await;
        let instructions = texts(&model.requests()[1].messages)[0].clone();
        assert!(!instructions.contains("Kit"), "{instructions}");
    }
}

#[tokio::test]
async fn all_that_a_run_was_given_is_extracted() {
    let nothing = || ScriptedModel::new(vec![r#"{"memories": [], "forget": []}"#; 2]);
    let said = |texts: [&str; 2]| {
        let messages = texts.map(|text| Message::user(text.to_owned()));
        MessagesStateUpdate::default().messages(messages.into())
    };
    // Several messages of the user, and one that the middleware writes in the name of the user.
    let extractor = nothing();
    let model = ScriptedModel::new(["Hi.", "Lentils.", "Lentils, with rice."]);
    let bad = r#"{"passes": false, "reasons": "too short"}"#;
    let good = r#"{"passes": true, "reasons": ""}"#;
    let rubric = Rubric::new(ScriptedModel::new([good, bad, good]), "It is long.");
    let memory = per_user().extract(extractor.clone());
    let agent = react_agent(model, ()).with((memory, rubric)).compile();
    let agent = agent.unwrap().store(Arc::new(MemoryStore::new()));
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let hello = said(["Hello.", "I am Ada."]);
    thread.run(hello).await.unwrap();
    let question = said(["I eat no meat.", "What can I eat?"]);
    thread.run(question).await.unwrap();
    let read = read_by(&extractor);
    assert!(
        read[0].contains("I am Ada.") && read[0].contains("Hello."),
        "{read:?}"
    );
    assert!(
        read[1].contains("I eat no meat.") && read[1].contains("with rice"),
        "{read:?}"
    );
    assert!(!read[1].contains("I am Ada."), "{read:?}");
}

/// Returns what an extractor has read, a text for each time.
fn read_by(extractor: &ScriptedModel) -> Vec<String> {
    let requests = extractor.requests().into_iter();
    let read = requests.map(|request| texts(&request.messages)[1].clone());
    read.collect()
}

#[tokio::test]
async fn what_a_run_was_given_that_was_stopped_is_extracted_once_with_the_next() {
    let nothing = r#"{"memories": [], "forget": []}"#;
    let extractor = ScriptedModel::new(vec![nothing; 2]);
    let model = ScriptedModel::new(["Hi, Ada.", "Bye.", "Again."]);
    let bad = Turn::error(ModelError::new(ModelErrorKind::Transport, "down"));
    let good = || Turn::text(r#"{"passes": true, "reasons": ""}"#);
    let grades = ScriptedModel::new([bad, good(), good()]);
    let rubric = Rubric::new(grades, "It is long.");
    let memory = per_user().extract(extractor.clone());
    let agent = react_agent(model, ()).with((memory, rubric)).compile();
    let agent = agent.unwrap().store(Arc::new(MemoryStore::new()));
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let said = |text: &str| thread.run(MessagesStateUpdate::user(text));
    said("I am Ada.").await.unwrap_err();
    said("Goodbye.").await.unwrap();
    said("Hello again.").await.unwrap();
    let read = read_by(&extractor);
    let both = "user: I am Ada.\nassistant: Hi, Ada.\nuser: Goodbye.\nassistant: Bye.\n";
    assert!(read[0].ends_with(both), "{read:?}");
    assert!(
        read[1].ends_with("conversation:\nuser: Hello again.\nassistant: Again.\n"),
        "{read:?}"
    );
}

#[tokio::test]
async fn what_a_conversation_says_is_extracted_after_the_run() {
    let store = Arc::new(MemoryStore::new());
    store
        .put(
            ["memories", "ada"],
            "old",
            &json!({"text": "Lives in Basel."}),
        )
        .await
        .unwrap();
    let extractor = ScriptedModel::new([
        r#"{"memories": ["Lives in Bern.", "Has a cat."], "forget": ["old", "unknown"]}"#,
        r#"{"memories": ["has a cat."], "forget": []}"#,
    ]);
    let model = ScriptedModel::new(["Nice!", "Nice again!"]);
    let agent = agent(&model, per_user().extract(extractor.clone()), &store);
    ask(&agent, "ada", "I have moved to Bern, with my cat.").await;
    ask(&agent, "ada", "My cat is well.").await;
    let kept = store.search(["memories", "ada"]).await.unwrap();
    let mut kept: Vec<_> = kept
        .iter()
        .map(|item| item.value["text"].as_str().unwrap().to_owned())
        .collect();
    kept.sort();
    assert_eq!(
        kept,
        ["Lives in Bern.", "has a cat."],
        "a fact is kept once"
    );
    let asked = texts(&extractor.requests()[0].messages)[1].clone();
    assert!(asked.contains("- Lives in Basel. (id old)"), "{asked}");
    assert!(asked.contains("user: I have moved to Bern"), "{asked}");
    assert!(asked.contains("assistant: Nice!"), "{asked}");
}

#[tokio::test]
async fn memories_that_are_not_used_are_forgotten() {
    let clock = Arc::new(ManualClock::new());
    let day = Duration::from_secs(24 * 60 * 60);
    let store = Arc::new(MemoryStore::with(
        StoreOptions::default().clock(Arc::clone(&clock) as Arc<dyn Clock>),
    ));
    let model = ScriptedModel::new([
        Turn::tool_calls([
            call("c1", "save_memory", json!({"text": "Drinks green tea."})),
            call("c2", "save_memory", json!({"text": "Lives in Basel."})),
        ]),
        Turn::text("saved"),
        Turn::text("Green."),
        Turn::text("Green."),
    ]);
    let memory = per_user().recall(1).forget_after(day * 10);
    let agent = agent(&model, memory, &store);
    ask(&agent, "ada", "Remember!").await;
    for _ in 0..2 {
        clock.advance(day * 6);
        ask(&agent, "ada", "Which tea?").await;
    }
    let kept = store.search(["memories"]).await.unwrap();
    let kept: Vec<_> = kept.iter().map(|item| item.value["text"].clone()).collect();
    assert_eq!(kept, ["Drinks green tea."]);
}
