//! New inputs on threads that wait for answers, and changes of threads that do not exist.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::error::CheckpointError;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph::thread::OnOpenInterrupt;
use serde_json::json;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(append)]
    ran: Vec<String>,
}

/// Asks for two tools: one runs beside the question whether the other may.
#[node]
async fn model(chat: &Chat) -> ChatUpdate {
    let update = ChatUpdate::default().ran(vec!["model".to_owned()]);
    match chat.messages.last().map(Message::text).as_deref() {
        Some("delete it") => {
            let calls = [
                ToolCall::new("look", "look", json!({})),
                ToolCall::new("delete", "delete", json!({})),
            ];
            update.messages(vec![Message::assistant_with_tool_calls("", calls)])
        }
        _ => update.messages(vec![Message::assistant("fine")]),
    }
}

#[node]
async fn look(_: &Chat) -> ChatUpdate {
    ChatUpdate::default().messages(vec![Message::tool("look", "seen")])
}

#[node]
async fn delete(_: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    let sure: bool = cx.interrupt("sure", "delete?")?;
    let result = if sure { "deleted" } else { "kept" };
    Ok(ChatUpdate::default().messages(vec![Message::tool("delete", result)]))
}

enum Wants {
    Tools,
    Nothing,
}

fn wants(chat: &Chat) -> Wants {
    match chat.messages.last().map(|message| &message.kind) {
        Some(MessageKind::ToolCalls { .. }) => Wants::Tools,
        _ => Wants::Nothing,
    }
}

fn agent() -> CompiledStateGraph<Chat> {
    graph! {
        START => model => match wants {
            Wants::Tools => [look, delete],
            Wants::Nothing => END,
        };
        [look, delete] => model;
    }
    .compile()
    .unwrap()
    .checkpointer(Arc::new(MemorySaver::new()))
}

fn says(text: &str) -> ChatUpdate {
    ChatUpdate::default().messages(vec![Message::user(text)])
}

fn texts(chat: &Chat) -> Vec<String> {
    chat.messages
        .iter()
        .map(|m| m.text().into_owned())
        .collect()
}

#[tokio::test]
async fn a_new_input_beside_an_open_question_is_refused() {
    let graph = agent();
    let thread = graph.thread("t");
    thread.run(says("delete it")).await.unwrap();
    let before = thread.state().await.unwrap().unwrap();

    let error = thread.run(says("hello")).await.unwrap_err();
    let AgentError::InterruptsOpen {
        thread: named,
        interrupts,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((&**named, &*interrupts[0].key), ("t", "sure"));
    assert!(
        error.to_string().contains("`sure` of node `delete`"),
        "{error}"
    );

    // Nothing has changed, and the question can be answered.
    assert_eq!(thread.state().await.unwrap().unwrap().id, before.id);
    let chat = thread.answer(true).await.unwrap().finished().unwrap();
    assert_eq!(texts(&chat), ["delete it", "", "seen", "deleted", "fine"]);
}

#[tokio::test]
async fn an_input_that_waits_is_merged_behind_the_answered_task() {
    let graph = agent().on_open_interrupt(OnOpenInterrupt::Keep);
    let thread = graph.thread("t");
    thread.run(says("delete it")).await.unwrap();
    let asked = thread.state().await.unwrap().unwrap().interrupts;

    let outcome = thread.run(says("hello")).await.unwrap();
    // The same question, with the same id; no node has run again.
    assert_eq!(outcome.interrupts(), asked);
    assert_eq!(outcome.state().ran, ["model"]);

    let chat = thread
        .resume(&*asked[0].id, false)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(
        texts(&chat),
        ["delete it", "", "seen", "kept", "hello", "fine"]
    );
    assert_eq!(chat.ran, ["model", "model"]);
}

#[tokio::test]
async fn a_dismissed_question_leaves_every_call_answered() {
    let graph = agent();
    let thread = graph.thread("t");
    thread.run(says("delete it")).await.unwrap();

    let run = thread.run(says("hello"));
    let chat = run
        .on_open_interrupt(OnOpenInterrupt::Dismiss)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(chat.messages.len(), 6);
    assert_eq!(chat.messages[2].text(), "seen"); // what had finished is kept
    assert!(chat.messages[3].text().starts_with("not answered"));
    assert!(
        matches!(&chat.messages[3].kind, MessageKind::Tool(result) if result.call_id == "delete")
    );
    assert_eq!(texts(&chat)[4..], ["hello", "fine"]);
}

#[tokio::test]
async fn a_dropped_question_goes_with_its_superstep() {
    let graph = agent();
    let thread = graph.thread("t");
    thread.run(says("delete it")).await.unwrap();
    let run = thread.run(says("hello"));
    let chat = run
        .on_open_interrupt(OnOpenInterrupt::Drop)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(texts(&chat), ["delete it", "", "hello", "fine"]);
}

#[tokio::test]
async fn a_run_from_an_older_checkpoint_leaves_the_question_alone() {
    let graph = agent();
    let thread = graph.thread("t");
    thread.run(says("delete it")).await.unwrap();
    let history = thread.history().await.unwrap();
    let oldest = history.last().unwrap().id;
    thread.at(oldest).run(says("hello")).await.unwrap();
}

#[tokio::test]
async fn a_question_without_a_checkpointer_is_an_error_that_says_so() {
    fn ask(_: &i64, cx: &Context) -> Result<i64, NodeError> {
        Ok(cx.interrupt("how many", "?")?)
    }
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    let error = graph.compile().unwrap().invoke(0).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`ask`") && text.contains("`how many`"),
        "{text}"
    );
    assert!(text.contains(".checkpointer(..)"), "{text}");
}

/// Asks, and says so.
#[node(interrupts)]
async fn declared(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    Ok(cx.interrupt("how many", "?")?)
}

#[tokio::test]
async fn a_node_that_declares_its_question_is_refused_before_anything_runs() {
    static RAN: AtomicUsize = AtomicUsize::new(0);
    let before = |n: &i64| {
        RAN.fetch_add(1, Ordering::SeqCst);
        *n
    };
    let asks = |_: &i64, cx: &Context| Ok::<i64, NodeError>(cx.interrupt("how many", "?")?);
    let mut by_method = StateGraph::<i64>::new();
    by_method
        .add_node("before", before)
        .add_node("declared", asks.interrupts())
        .add_sequence(&["before", "declared"]);
    let by_attribute = graph! { type State = i64; START => before => declared => END };
    let inner = by_attribute.compile().unwrap();
    let mut around = StateGraph::<i64>::new();
    around.add_node("inner", inner).add_sequence(&["inner"]);
    for (graph, node) in [
        (by_method, "`declared`"),
        (by_attribute, "`declared`"),
        (around, "`inner/declared`"),
    ] {
        let graph = graph.compile().unwrap();
        let error = graph.invoke(0).await.unwrap_err();
        let is_it = matches!(
            error,
            AgentError::Checkpoint(CheckpointError::InterruptsUnkept(_))
        );
        assert!(is_it && error.to_string().contains(node), "{error}");
        assert_eq!(RAN.load(Ordering::SeqCst), 0);
        // With a checkpointer it asks.
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        assert!(!graph.thread("t").run(0).await.unwrap().is_done());
        RAN.store(0, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_change_does_not_create_a_thread_unless_asked() {
    let graph = agent();
    let thread = graph.thread("new");
    for change in [
        thread.update(says("hi")),
        thread.add_input(says("hi")),
        thread.clear_pending(),
    ] {
        let error = change.await.unwrap_err();
        let unknown = matches!(
            &error,
            AgentError::Checkpoint(CheckpointError::UnknownThread(name)) if name == "new"
        );
        assert!(unknown, "{error}");
    }
    assert!(thread.state().await.unwrap().is_none());
    thread.add_input(says("hi")).create().await.unwrap();
    let chat = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(texts(&chat), ["hi", "fine"]);
}
