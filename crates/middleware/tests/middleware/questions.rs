//! What the user has asked, in chats in which middleware has written with the role of the user.

use langgraph_agent::{ScriptedModel, Turn, react_agent};
use langgraph_middleware::{AutoMode, Rubric, ToolSelector};

use super::support::{ask, calls, search, texts, tool};

fn last(model: &ScriptedModel) -> String {
    let requests = model.requests();
    texts(&requests.last().unwrap().messages).pop().unwrap()
}

/// Sends one answer back.
fn rubric(reasons: &str) -> Rubric {
    let bad = format!(r#"{{"passes": false, "reasons": "{reasons}"}}"#);
    let good = r#"{"passes": true, "reasons": ""}"#.to_owned();
    Rubric::new(ScriptedModel::new([bad, good]), "It is long.")
}

#[tokio::test]
async fn tools_are_chosen_by_the_question_and_not_by_a_request_for_a_revision() {
    let small = ScriptedModel::new(vec![r#"{"tools": ["read"]}"#; 2]);
    let own = ScriptedModel::new(["no", "yes"]);
    let selector = ToolSelector::new(small.clone(), 1);
    ask(search(own), (selector, rubric("Too short.")), "Read it!").await;
    assert_eq!(small.requests().len(), 2);
    assert_eq!(last(&small), "Read it!");
}

#[tokio::test]
async fn a_request_for_a_revision_does_not_ask_for_a_call_in_the_name_of_the_user() {
    let judge = ScriptedModel::new([r#"{"blocked": true, "why": "Not asked."}"#]);
    let model = ScriptedModel::new([
        Turn::text("no"),
        calls(&[("c1", "wipe")]),
        Turn::text("done"),
    ]);
    let auto = AutoMode::new(["wipe"], judge.clone());
    let agent = react_agent(model, (tool("wipe"),));
    ask(agent, (auto, rubric("Wipe it.")), "Look!").await;
    let read = last(&judge);
    assert!(read.contains("user: Look!\n"), "{read}");
    assert!(
        read.contains("rubric: Improve your answer: Wipe it.\n"),
        "{read}"
    );
}
