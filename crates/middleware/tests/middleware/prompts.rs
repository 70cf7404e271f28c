//! Marks of the prompts that a provider keeps.

use langgraph_agent::{ScriptedModel, Turn};
use langgraph_middleware::PromptCaching;
use serde_json::{Value, json};

use super::support::{ask, calls, search};

#[tokio::test]
async fn the_instructions_and_the_last_message_are_marked_and_the_state_is_not() {
    let model = ScriptedModel::new([calls(&[("c1", "search"), ("c2", "read")]), Turn::text("ok")]);
    let agent = search(model.clone()).prompt("Be brief.");
    let state = ask(agent, PromptCaching::new().for_an_hour(), "?").await;
    let state = serde_json::to_string(&state.messages).unwrap();
    assert!(!state.contains("cache_control"), "{state}");

    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    for request in model.requests() {
        let sent: Vec<Value> = request
            .messages
            .iter()
            .map(|message| serde_json::to_value(message).unwrap())
            .collect();
        let marked = |sent: &Value| sent["content"][0]["cache_control"] == mark;
        assert!(marked(&sent[0]) && marked(sent.last().unwrap()), "{sent:?}");
        assert_eq!(sent.iter().filter(|sent| marked(sent)).count(), 2);
        assert_eq!(request.messages[0].text(), "Be brief.");
    }
    let answered = &model.requests()[1].messages;
    assert_eq!(answered.last().unwrap().text(), "read");
}
