//! Checks of what users say and of what an agent answers.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::NodeError;
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph_agent::{FnTool, MessagesStateUpdate, ScriptedModel, Turn, async_trait, react_agent};
use langgraph_middleware::{Guard, GuardVerdict, ModelGuard, Moderation, Rubric};

use super::support::{ask, calls, search, texts};

#[tokio::test]
async fn guards_refuse_replace_and_ask_a_model() {
    let model = ScriptedModel::new(["Call 555-1234."]);
    let judge = ScriptedModel::new([r#"{"allowed": true}"#, r#"{"allowed": false}"#]);
    let hide = |said: &Message| GuardVerdict::Replace(said.text().replace("555-1234", "[hidden]"));
    let moderation = Moderation::new()
        .input(ModelGuard::new(
            judge.clone(),
            "It is polite.",
            "Please be polite.",
        ))
        .input(|said: &Message| GuardVerdict::Replace(said.text().to_lowercase()))
        .output(hide);
    let agent = react_agent(model.clone(), ()).with(moderation).compile();
    let agent = agent.unwrap().checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let question = MessagesStateUpdate::user("PLEASE, the number?");
    let outcome = thread.run(question).await.unwrap();
    let shown = texts(&outcome.state().messages);
    assert_eq!(shown, ["please, the number?", "Call [hidden]."]);
    let outcome = thread.run(MessagesStateUpdate::user("Now!")).await.unwrap();
    let shown = texts(&outcome.state().messages);
    assert_eq!(shown[2..], ["Now!", "Please be polite."]);
    assert_eq!(model.requests().len(), 1, "the model never saw it");
    assert_eq!(
        model.requests()[0].messages[0].text(),
        "please, the number?"
    );
    // A closure is a guard, and so is what holds one.
    let _: Arc<dyn Guard> = Arc::new(hide);
}

#[tokio::test]
async fn an_answer_that_is_refused_is_replaced_and_calls_of_tools_are_not_judged() {
    let model = ScriptedModel::new([calls(&[("c1", "search")]), Turn::text("A secret.")]);
    let refuse = |_: &Message| GuardVerdict::Refuse("I may not say.".to_owned());
    let state = ask(search(model), Moderation::new().output(refuse), "?").await;
    let shown = texts(&state.messages);
    assert_eq!(shown[2..], ["search", "I may not say."]);
    assert_eq!(state.messages[1].tool_calls().len(), 1);
}

#[tokio::test]
async fn what_tools_return_that_is_the_answer_is_judged() {
    let price = |name| FnTool::new(name, "", || async { "555-1234" }).return_directly();
    let hide = |said: &Message| GuardVerdict::Replace(said.text().replace("1234", "****"));
    let refuse = |_: &Message| GuardVerdict::Refuse("I may not say.".to_owned());
    let cases: [(Moderation, &str); 2] = [
        (Moderation::new().output(hide), "555-****"),
        (Moderation::new().output(refuse), "I may not say."),
    ];
    for (moderation, answer) in cases {
        let model = ScriptedModel::new([calls(&[("c1", "net"), ("c2", "gross")])]);
        let agent = react_agent(model, (price("net"), price("gross")));
        let state = ask(agent, moderation, "?").await;
        assert_eq!(texts(&state.messages)[2..], [answer, answer]);
    }
}

#[tokio::test]
async fn a_draft_that_is_sent_back_is_judged_in_either_order() {
    let hide = |said: &Message| GuardVerdict::Replace(said.text().replace("555-1234", "[hidden]"));
    let moderation = || Moderation::new().output(hide);
    let rubric = || {
        let bad = r#"{"passes": false, "reasons": "too short"}"#;
        Rubric::new(ScriptedModel::new([bad]), "It is long.").revisions(1)
    };
    let writer = || react_agent(ScriptedModel::new(["555-1234.", "It is 555-1234."]), ());
    let improve = "Improve your answer: too short";
    let expected = ["?", "[hidden].", improve, "It is [hidden]."];
    let state = ask(writer(), (moderation(), rubric()), "?").await;
    assert_eq!(texts(&state.messages), expected);
    let state = ask(writer(), (rubric(), moderation()), "?").await;
    assert_eq!(texts(&state.messages), expected);
}

/// A guard that cannot judge.
struct Down;

#[async_trait]
impl Guard for Down {
    async fn check(&self, _: &Message, _: &Context) -> Result<GuardVerdict, NodeError> {
        Err(NodeError::msg("the service is down"))
    }
}

#[tokio::test]
async fn an_answer_that_is_not_judged_is_not_stored() {
    let model = ScriptedModel::new(["A secret.", "Another one."]);
    let moderation = Moderation::new().output(Down);
    let agent = react_agent(model, ()).with(moderation).compile();
    let agent = agent.unwrap().checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    for text in ["?", "Well?"] {
        let run = thread.run(MessagesStateUpdate::user(text));
        run.await.unwrap_err();
    }
    let stored = thread.state().await.unwrap().unwrap().values;
    assert_eq!(texts(&stored.messages), ["?", "Well?"]);
}
