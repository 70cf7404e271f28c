//! Chats that a model shortens, in replays of stored threads.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{AgentContext, AgentUpdate, MessagesStateUpdate, ScriptedModel, react_agent};
use langgraph_testing::replay;

/// Has a model say the older part of a chat in short, and keeps the newest two messages.
struct Shortens(ScriptedModel);

#[middleware]
impl AgentMiddleware for Shortens {
    async fn before_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let (older, newest) = match cx.messages() {
            [older @ .., assistant, user] if !older.is_empty() => (older, [assistant, user]),
            _ => return Ok(AgentUpdate::default()),
        };
        let short = self.0.invoke(older, cx).await?;
        let short = Message::user(format!("Before: {}", short.text()));
        let kept = newest.into_iter().cloned();
        let all = [Message::remove_all(), short].into_iter().chain(kept);
        Ok(AgentUpdate::messages(all))
    }
}

fn agent(answers: &[&str], short: &[&str]) -> CompiledStateGraph<langgraph_agent::MessagesState> {
    let model = ScriptedModel::new(answers.iter().copied());
    let short = Shortens(ScriptedModel::new(short.iter().copied()));
    react_agent(model, ()).with(short).compile().unwrap()
}

async fn is_not_checked(inputs: Vec<MessagesStateUpdate>) {
    let saver = Arc::new(MemorySaver::new());
    let answers = ["one", "two"];
    let stored = agent(&answers, &["in short"]).checkpointer(saver.clone());
    for input in inputs {
        stored.thread("t").run(input).await.unwrap();
    }
    // The thread has the summary in a message of the user, and in no answer of a model.
    let report = replay(saver.clone(), &agent(&[], &[])).await.unwrap();
    assert!(report.is_same(), "{report}");
    let [unchecked] = &report.threads[0].unchecked[..] else {
        panic!("{report}");
    };
    assert!(unchecked.reason.contains(".model(..)"), "{report}");

    let model = ScriptedModel::new(["in short"]);
    let report = replay(saver, &agent(&[], &[])).model(model).await.unwrap();
    assert!(report.is_same(), "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");
}

#[tokio::test]
async fn a_message_that_a_summary_keeps_is_no_answer_of_its_model_in_a_replay() {
    let hi = || MessagesStateUpdate::user("Hi!");
    is_not_checked(vec![hi(), hi()]).await;
}

#[tokio::test]
async fn a_message_of_the_input_that_a_summary_keeps_is_no_answer_of_its_model() {
    let chat = ["Hi!", "Hello.", "How are you?"].into_iter().enumerate();
    let chat = chat.map(|(n, text)| match n % 2 {
        0 => Message::user(text),
        _ => Message::assistant(text),
    });
    let input = MessagesStateUpdate::default().messages(chat.collect());
    is_not_checked(vec![input]).await;
}
