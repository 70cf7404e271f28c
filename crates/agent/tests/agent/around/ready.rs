//! Ready-made middleware of models and tools.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::NodeError;
use langgraph::message::ToolCall;
use langgraph::policy::RetryPolicy;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentBuildError, ApprovalRequest, EditRequest, FnTool, Hook, HumanInTheLoop, MemoryModelCache,
    MessagesStateUpdate, ModelCaching, ModelErrorKind, ModelFallback, ModelRetry, NextTool,
    ReactAgent, ScriptedModel, ToolAnswer, ToolCaching, ToolDecision, ToolDefinition, ToolErrors,
    ToolOutput, ToolRetry, Tools, Turn, react_agent,
};
use serde_json::{Value, json};

use super::super::support::{asks_the_time, call, clock};

fn timeout() -> Turn {
    Turn::error(ModelError::new(ModelErrorKind::Timeout, "too slow"))
}

/// Fails the first `times` times.
fn flaky(times: usize) -> FnTool {
    let count = Arc::new(AtomicUsize::new(0));
    FnTool::new("get_current_time", "", move || {
        let n = count.fetch_add(1, Ordering::SeqCst);
        async move {
            if n < times {
                return Err(ToolError::model("the clock is wet"));
            }
            Ok("noon")
        }
    })
}

fn asks() -> ScriptedModel {
    ScriptedModel::new([asks_the_time("c1"), Turn::text("done")])
}

#[tokio::test(start_paused = true)]
async fn a_model_is_retried_inside_its_fallback() {
    let own = ScriptedModel::new([timeout(), timeout(), timeout()]);
    let other = ScriptedModel::new(["other"]);
    let agent = react_agent(own.clone(), ())
        .with((ModelFallback::to(other.clone()), ModelRetry::attempts(2)));
    let agent = agent.compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[1].text(), "other");
    // The fallback is a part of the model that is retried.
    assert_eq!((own.requests().len(), other.requests().len()), (1, 1));

    let own = ScriptedModel::new([timeout(), Turn::text("own")]);
    let agent = react_agent(own, ()).with(ModelRetry::attempts(2));
    let agent = agent.compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[1].text(), "own");
}

#[tokio::test]
async fn a_model_that_refuses_for_good_is_not_retried() {
    let bad = ModelError::new(ModelErrorKind::Auth, "no key");
    let own = ScriptedModel::new([Turn::error(bad), Turn::text("never")]);
    let agent = react_agent(own.clone(), ()).with(ModelRetry::attempts(3));
    let error = agent.compile().unwrap();
    let error = error.invoke(MessagesStateUpdate::user("?")).await;
    assert!(error.unwrap_err().to_string().contains("no key"));
    assert_eq!(own.requests().len(), 1);
}

#[tokio::test]
async fn a_request_is_edited_and_an_equal_one_comes_from_the_cache() {
    let own = ScriptedModel::new(["own"]);
    let agent = react_agent(own.clone(), ()).with((
        EditRequest::with(|request| request.temperature(0.5)),
        ModelCaching::new(MemoryModelCache::new(Duration::from_secs(60))),
    ));
    let agent = agent.compile().unwrap();
    for _ in 0..2 {
        let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
        assert_eq!(state.messages[1].text(), "own");
    }
    let requests = own.requests();
    assert_eq!((requests.len(), requests[0].temperature), (1, Some(0.5)));
}

#[tokio::test]
async fn a_tool_is_retried_before_the_model_reads_about_it() {
    let policy = || RetryPolicy::attempts(3).immediately();
    for (failures, text) in [
        (2, "noon"),
        (3, "Error: the clock is wet\n Please fix your mistakes."),
    ] {
        let agent = react_agent(asks(), (flaky(failures),)).with(ToolRetry::policy(policy()));
        let agent = agent.compile().unwrap();
        let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
        assert_eq!(state.messages[2].text(), text);
    }
    let others = ToolRetry::policy(policy()).of(["other"]);
    let error = react_agent(asks(), (clock(),)).with(others).compile();
    assert_eq!(
        error.unwrap_err().to_string(),
        "the middleware `ToolRetry` does not fit the agent: \
         there is no tool `other` (tools: get_current_time)"
    );
}

#[tokio::test]
async fn errors_of_tools_are_described_or_fail_the_run() {
    let brief = ToolErrors::describe(|call, error| format!("{}: {error}", call.id));
    let agent = react_agent(asks(), (flaky(1),))
        .with(brief)
        .compile()
        .unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[2].text(), "c1: the clock is wet");
    assert!(state.messages[2].tool_result().unwrap().is_error());

    let agent = react_agent(asks(), (flaky(1),)).with(ToolErrors::fail());
    let error = agent.compile().unwrap();
    let error = error
        .invoke(MessagesStateUpdate::user("?"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("tool `get_current_time`: the clock is wet")
    );
}

#[tokio::test]
async fn a_panic_of_a_tool_is_a_failure_that_middleware_sees() {
    let panics = FnTool::new("get_current_time", "", || async { panic!("dry") as &str });
    let brief = ToolErrors::describe(|_, error| error.to_owned());
    let agent = react_agent(asks(), (panics,))
        .with(brief)
        .compile()
        .unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[2].text(), "panicked: dry");
}

/// Panics before it has returned a future.
struct PanicsEarly(ToolDefinition);

#[allow(clippy::panic)]
impl Tool for PanicsEarly {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'l, 'c, 't, 'r>(
        &'l self,
        _: Value,
        _: &'c ToolContext<'t>,
    ) -> Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'r>>
    where
        'l: 'r,
        'c: 'r,
        't: 'r,
        Self: 'r,
    {
        panic!("ann@example.org")
    }
}

/// Panics around each tool, or after it.
struct Panics(Hook);

#[middleware]
impl AgentMiddleware for Panics {
    async fn around_tool(
        &self,
        call: ToolCall,
        _: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        assert!(self.0 != Hook::AroundTool, "ann@example.org");
        next.run(call).await
    }

    async fn after_tool(
        &self,
        answer: ToolAnswer,
        _: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        assert!(self.0 != Hook::AfterTool, "ann@example.org");
        Ok(answer)
    }
}

/// Hides the address in what tools answer.
struct Hides;

#[middleware]
impl AgentMiddleware for Hides {
    fn hides(&self) -> bool {
        true
    }

    async fn after_tool(
        &self,
        mut answer: ToolAnswer,
        _: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let text = answer.result.content.text();
        answer.result.content = text.replace("ann@example.org", "[address]").into();
        Ok(answer)
    }
}

#[tokio::test]
async fn the_text_of_each_panic_passes_what_hides_data() {
    let hidden = async |agent: ReactAgent| {
        let agent = agent.compile().unwrap();
        let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
        state.messages[2].text().into_owned()
    };
    let expected = "Error: panicked: [address]\n Please fix your mistakes.";
    let definition = ToolDefinition::new("get_current_time", "", json!({"type": "object"}));
    let early = Tools::new().with(PanicsEarly(definition));
    assert_eq!(
        hidden(react_agent(asks(), early).with(Hides)).await,
        expected
    );
    for hook in [Hook::AroundTool, Hook::AfterTool] {
        // Wherever it stands in the list.
        let agent = react_agent(asks(), (clock(),)).with((Hides, Panics(hook)));
        assert_eq!(hidden(agent).await, expected);
        let agent = react_agent(asks(), (clock(),)).with((Panics(hook), Hides));
        assert_eq!(hidden(agent).await, expected);
    }
}

#[tokio::test]
async fn a_panic_of_middleware_is_a_failure_that_middleware_around_it_sees() {
    let brief = ToolErrors::describe(|_, error| error.to_owned());
    let agent = react_agent(asks(), (clock(),)).with((brief, Panics(Hook::AroundTool)));
    let agent = agent.compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages[2].text(), "panicked: ann@example.org");
}

#[tokio::test]
async fn a_person_edits_a_call_and_middleware_further_inside_sees_the_edited_one() {
    let double = FnTool::new(
        "double",
        "",
        |n: std::collections::BTreeMap<String, i64>| async move { (n["n"] * 2).to_string() },
    );
    let model = ScriptedModel::new([
        Turn::tool_calls([call("c1", "double", json!({"n": 4}))]),
        Turn::text("done"),
    ]);
    let agent = react_agent(model, (double,)).with((
        HumanInTheLoop::new("double"),
        ToolCaching::new(["double"], Duration::from_secs(60)),
    ));
    let agent = agent
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let outcome = thread.run(MessagesStateUpdate::user("?")).await.unwrap();
    let request = ApprovalRequest::of(&outcome.interrupts()[0]).unwrap();
    assert_eq!(request.call.arguments, json!({"n": 4}));
    let edit =
        serde_json::from_value::<ToolDecision>(json!({"type": "edit", "arguments": {"n": 5}}));
    let outcome = thread.resume("c1", edit.unwrap()).await.unwrap();
    let state = outcome.finished().unwrap();
    let answer = state.messages[2].text().into_owned();
    assert!(
        answer.starts_with("(The user changed the arguments"),
        "{answer}"
    );
    assert!(answer.ends_with("10"), "{answer}");
}

/// Asks a person.
#[tool]
async fn poll(cx: &ToolContext<'_>) -> Result<String, ToolError> {
    Ok(cx.interrupt("poll", "Tea or coffee?")?)
}

#[tokio::test]
async fn what_a_person_says_about_a_call_answers_no_other_call() {
    let double = FnTool::new(
        "double",
        "",
        |n: std::collections::BTreeMap<String, i64>| async move { (n["n"] * 2).to_string() },
    );
    let caching = || ToolCaching::new(["double", "poll"], Duration::from_secs(60));
    for (caches_outside, name, answers) in [
        (
            true,
            "double",
            [
                json!({"type": "approve"}),
                json!({"type": "answer", "content": "9"}),
            ],
        ),
        (
            true,
            "double",
            [
                json!({"type": "edit", "arguments": {"n": 5}}),
                json!({"type": "approve"}),
            ],
        ),
        (true, "poll", [json!("tea"), json!("coffee")]),
        (false, "poll", [json!("tea"), json!("coffee")]),
    ] {
        let called = || Turn::tool_calls([call("c1", name, json!({"n": 4}))]);
        let model = ScriptedModel::new([called(), Turn::text("."), called(), Turn::text(".")]);
        let agent = react_agent(model, (double.clone(), poll));
        let agent = if caches_outside {
            agent.with((caching(), HumanInTheLoop::new("double")))
        } else {
            agent.with((HumanInTheLoop::new("double"), caching()))
        };
        let agent = agent.compile().unwrap();
        let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
        let mut said = Vec::new();
        for (thread, answer) in ["first", "second"].into_iter().zip(answers) {
            let thread = agent.thread(thread);
            let outcome = thread.run(MessagesStateUpdate::user("?")).await.unwrap();
            assert_eq!(outcome.interrupts().len(), 1, "{name}: {answer}");
            let state = thread.answer(answer).await.unwrap().finished().unwrap();
            said.push(state.messages[2].text().into_owned());
        }
        assert_ne!(said[0], said[1]);
    }
}

#[test]
fn an_approval_of_a_tool_that_is_missing_is_refused_when_the_agent_is_compiled() {
    let agent = react_agent(asks(), (clock(),)).with(HumanInTheLoop::new("wype"));
    let error = agent.compile().unwrap_err();
    assert!(matches!(&error, AgentBuildError::Unfit { .. }));
    assert!(
        error.to_string().contains("an approval is for tool `wype`"),
        "{error}"
    );
}
