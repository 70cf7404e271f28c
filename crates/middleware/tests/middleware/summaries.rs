//! Long histories, cut and summarised.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::Message;
use langgraph_agent::{MessagesStateUpdate, ScriptedModel, check_answered, react_agent};
use langgraph_middleware::{Summarization, TrimMessages, trim};
use langgraph_store::{MemoryStore, StoreExt as _, WithStore as _};
use serde_json::json;

use super::support::{call, texts};

#[test]
fn a_history_is_cut_only_where_no_result_loses_its_call() {
    let mut chat = vec![Message::system("Be brief.")];
    for n in 0..8 {
        let (a, b) = (format!("a{n}"), format!("b{n}"));
        chat.push(Message::user(format!("question {n}, which has some words")));
        let calls = [call(&a, "now", json!({})), call(&b, "now", json!({}))];
        chat.push(Message::assistant_with_tool_calls("", calls));
        chat.push(Message::tool(&a, "12:00 and some seconds"));
        chat.push(Message::tool(&b, "12:00 and some seconds"));
        chat.push(Message::assistant(format!("answer {n}")));
    }
    let mut lengths = vec![];
    for tokens in 0..600 {
        let kept = trim(&chat, tokens);
        assert!(check_answered(&kept).is_ok(), "{tokens}");
        let calls: Vec<_> = kept
            .iter()
            .flat_map(Message::tool_calls)
            .map(|call| &*call.id)
            .collect();
        let results = kept.iter().filter_map(Message::tool_result);
        let orphan = results
            .map(|result| &*result.call_id)
            .find(|id| !calls.contains(id));
        assert_eq!(orphan, None, "{tokens}");
        assert!(
            kept[0].is_system() && kept.last() == chat.last(),
            "{tokens}"
        );
        lengths.push(kept.len());
    }
    assert!(
        lengths.is_sorted() && lengths[0] == 2 && lengths[599] == chat.len(),
        "{lengths:?}"
    );
}

#[tokio::test]
async fn the_model_gets_the_end_of_a_long_chat() {
    let model = ScriptedModel::new(["yes"]);
    let agent = react_agent(model.clone(), ()).prompt("Be brief.");
    let agent = agent.with(TrimMessages::to(30)).compile().unwrap();
    let talk = (0..9).map(|n| Message::user(format!("sentence number {n}, rather long")));
    let input = MessagesStateUpdate::default().messages(talk.collect());
    let state = agent.invoke(input).await.unwrap();
    assert_eq!(state.messages.len(), 10);
    let sent = texts(&model.requests()[0].messages);
    assert_eq!(sent, ["Be brief.", "sentence number 8, rather long"]);
}

fn talk(from: usize) -> MessagesStateUpdate {
    let lines =
        (from..from + 8).map(|n| Message::user(format!("sentence number {n}, rather long")));
    MessagesStateUpdate::default().messages(lines.collect())
}

#[tokio::test]
async fn a_summary_replaces_the_older_part_and_is_summarised_itself_later() {
    let model = ScriptedModel::new(["first summary", "second summary"]);
    let summary = Summarization::new(model.clone()).above(80).keep(30);
    let answers = ScriptedModel::new(["one", "two", "three"]);
    let agent = react_agent(answers, ()).with(summary).compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let short = MessagesStateUpdate::user("hi");
    assert_eq!(thread.run(short).await.unwrap().state().messages.len(), 2);
    let state = thread.run(talk(0)).await.unwrap().finished().unwrap();
    assert_eq!(
        state.messages[0].text(),
        "Summary of the conversation so far: first summary"
    );
    let shown = texts(&state.messages);
    assert_eq!(
        shown[shown.len() - 2..],
        ["sentence number 7, rather long", "two"]
    );
    assert!(shown.len() < 6, "{shown:?}");
    let state = thread.run(talk(8)).await.unwrap().finished().unwrap();
    let shown = texts(&state.messages);
    assert_eq!(
        shown[0],
        "Summary of the conversation so far: second summary"
    );
    assert!(!shown.iter().any(|text| text.ends_with("first summary")));
    let asked = model.requests()[1].messages[1].text().into_owned();
    assert!(asked.contains("first summary"), "{asked}");
}

#[tokio::test]
async fn what_a_summary_replaces_is_kept_in_the_store() {
    let store = Arc::new(MemoryStore::new());
    let summary = Summarization::new(ScriptedModel::new(["a summary"]))
        .above(80)
        .keep(30)
        .keep_history(|_| ["history"].into());
    let agent = react_agent(ScriptedModel::new(["yes"]), ()).with(summary);
    let agent = agent.compile().unwrap().store(store.clone());
    let state = agent.invoke(talk(0)).await.unwrap();
    let kept = store.search(["history"]).await.unwrap();
    assert_eq!(kept.len(), 1);
    let history: Vec<Message> = kept[0].value_as().unwrap();
    // Every sentence is in the state or in the history.
    assert_eq!(history.len() + state.messages.len() - 2, 8);
    assert_eq!(history[0].text(), "sentence number 0, rather long");
    assert_eq!(history[0].id.as_deref(), Some(&*kept[0].key));
}
