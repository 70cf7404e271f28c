//! Which model is asked, which tools it sees, and what becomes of its answer.

use langgraph::message::FinishReason;
use langgraph_agent::prelude::*;
use langgraph_agent::{FnTool, MessagesStateUpdate, ScriptedModel, Turn, react_agent};
use langgraph_middleware::{ModelRefusal, ModelRouter, Rubric, ToolEmulator, ToolSelector};

use super::support::{ask, calls, search, texts, tool};

#[tokio::test]
async fn a_router_sends_a_request_to_the_first_model_that_matches() {
    let own = ScriptedModel::new(["own", "own"]);
    let router = || {
        let long = |request: &ChatRequest| request.messages[0].text().len() > 5;
        ModelRouter::new().when(long, ScriptedModel::new(["large"]))
    };
    let state = ask(search(own.clone()), router(), "short").await;
    assert_eq!(state.messages[1].text(), "own");
    let state = ask(search(own), router(), "a long question").await;
    assert_eq!(state.messages[1].text(), "large");
}

#[tokio::test]
async fn a_selector_leaves_the_tools_that_it_names_and_no_others() {
    let small = ScriptedModel::new([r#"{"tools": ["made_up", "read", "search"]}"#]);
    let own = ScriptedModel::new(["done"]);
    let tools = (tool("search"), tool("read"), tool("write"), tool("help"));
    let agent = react_agent(own.clone(), tools);
    ask(
        agent,
        ToolSelector::new(small.clone(), 1).always(["help"]),
        "Read it!",
    )
    .await;
    let names: Vec<_> = own.requests()[0]
        .tools
        .iter()
        .map(|tool| tool.name.clone())
        .collect();
    assert_eq!(names, ["read", "help"]);
    assert_eq!(small.requests()[0].messages[1].text(), "Read it!");

    // There are few enough: the small model is not asked.
    let own = ScriptedModel::new(["done"]);
    ask(
        search(own.clone()),
        ToolSelector::new(small.clone(), 2),
        "?",
    )
    .await;
    assert_eq!(
        (small.requests().len(), own.requests()[0].tools.len()),
        (1, 2)
    );

    // None is allowed: it is not asked either.
    let own = ScriptedModel::new(["done"]);
    let none = ToolSelector::new(small.clone(), 0).always(["read"]);
    ask(search(own.clone()), none, "?").await;
    assert_eq!(
        (small.requests().len(), own.requests()[0].tools.len()),
        (1, 1)
    );
}

#[tokio::test]
async fn a_refusal_of_the_provider_goes_to_another_model_or_fails() {
    let refuses = || {
        let refused = ChatResponse::new(langgraph::message::Message::assistant(""))
            .with_finish_reason(FinishReason::ContentFilter);
        Refuses(refused)
    };
    let other = ModelRefusal::ask(ScriptedModel::new(["other"]));
    let state = ask(react_agent(refuses(), ()), other, "?").await;
    assert_eq!(state.messages[1].text(), "other");

    let agent = react_agent(refuses(), ()).with(ModelRefusal::fail());
    let error = agent.compile().unwrap();
    let error = error.invoke(MessagesStateUpdate::user("?")).await;
    assert!(error.unwrap_err().to_string().contains("refused to answer"));
}

struct Refuses(ChatResponse);

#[async_trait]
impl ChatModel for Refuses {
    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn a_rubric_asks_for_revisions_and_gives_up_at_its_limit() {
    let bad = r#"{"passes": false, "reasons": "too short"}"#;
    let grader = ScriptedModel::new([bad, bad, bad]);
    let writer = ScriptedModel::new(["a", "b", "c"]);
    let rubric = Rubric::new(grader.clone(), "It is long.").revisions(2);
    let state = ask(react_agent(writer, ()), rubric, "?").await;
    let improve = "Improve your answer: too short";
    assert_eq!(
        texts(&state.messages),
        ["?", "a", improve, "b", improve, "c"]
    );
    let graded = grader.requests().into_iter();
    let graded = graded.map(|request| texts(&request.messages)[1].clone());
    let graded: Vec<_> = graded.collect();
    let both = ["a", "b"].map(|answer| format!("Question:\n?\n\nAnswer:\n{answer}"));
    assert_eq!(graded, both);
}

#[tokio::test]
async fn an_emulated_tool_does_not_run() {
    let never = FnTool::new("send", "Sends.", || async { panic!("it ran") as &str });
    let model = ScriptedModel::new([calls(&[("c1", "send"), ("c2", "read")]), Turn::text("ok")]);
    let emulator = ToolEmulator::of(ScriptedModel::new(["sent"]), ["send"]);
    let state = ask(react_agent(model, (never, tool("read"))), emulator, "?").await;
    assert_eq!(texts(&state.messages)[2..4], ["sent", "read"]);
}
