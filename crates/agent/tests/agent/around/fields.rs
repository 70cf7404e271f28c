//! The fields of middleware.

use langgraph::message::ToolCall;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentBuildError, AgentContext, AgentState, AgentUpdate, FnTool, MERGE_FIELDS, MessagesState,
    MessagesStateUpdate, MiddlewareField, MiddlewareFields, NextTool, ReactAgent, ScriptedModel,
    ToolAnswer, ToolOutput, ToolRetry, Turn, react_agent,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::flows::Chat;
use super::super::support::{call, clock};

const CALLS: MiddlewareField<u64> = MiddlewareField::new("calls");
const NAMES: MiddlewareField<Vec<String>> = MiddlewareField::new("names");
const LAST: MiddlewareField<BTreeMap<String, String>> = MiddlewareField::new("last");

/// Counts the calls of tools, and keeps their names.
struct Counts;

#[middleware]
impl AgentMiddleware for Counts {
    fn fields(&self) -> Vec<&'static str> {
        vec![CALLS.name(), NAMES.name(), LAST.name()]
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let before = cx.fields().read(CALLS)?;
        cx.fields().add(CALLS, 1)?;
        assert_eq!(cx.fields().read(CALLS)?, before + 1);
        cx.fields().append(NAMES, [call.id.clone()])?;
        cx.fields().insert(LAST, &call.name, Some(&call.id))?;
        assert_eq!(
            cx.fields().entry(LAST, &call.name)?.as_ref(),
            Some(&call.id)
        );
        assert!(cx.fields().keys(LAST).contains(&call.name));
        cx.fields().insert(LAST, "other", Some(&call.id))?;
        cx.fields().insert(LAST, "other", None)?;
        assert_eq!(cx.fields().entry(LAST, "other")?, None);
        assert!(!cx.fields().keys(LAST).contains(&"other".to_owned()));
        next.run(call).await
    }
}

/// Has one of the fields, too.
struct Rival;

#[middleware]
impl AgentMiddleware for Rival {
    fn fields(&self) -> Vec<&'static str> {
        vec!["names"]
    }

    async fn before_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        Ok(AgentUpdate::default())
    }
}

/// Brings a tool that writes a field, declared or not.
struct Writes(bool);

#[middleware]
impl AgentMiddleware for Writes {
    fn fields(&self) -> Vec<&'static str> {
        let own = vec![CALLS.name()];
        own.into_iter().filter(|_| self.0).collect()
    }

    fn tools(&self) -> Tools {
        async fn count(_: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
            cx.fields().add(CALLS, 5)?;
            Ok(ToolOutput::text("counted"))
        }
        Tools::new().with(FnTool::new("count", "Counts.", count))
    }
}

#[derive(State, Clone, Debug, Default)]
struct Desk {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(MERGE_FIELDS)]
    extra: MiddlewareFields,
}

impl AgentState for Desk {
    fn middleware_fields(&self) -> Option<&MiddlewareFields> {
        Some(&self.extra)
    }

    fn update_from_fields(fields: MiddlewareFields) -> Option<DeskUpdate> {
        Some(DeskUpdate::default().extra(fields))
    }
}

fn three() -> ScriptedModel {
    let calls = |ids: &[&str]| {
        Turn::tool_calls(ids.iter().map(|id| call(id, "get_current_time", json!({}))))
    };
    ScriptedModel::new([calls(&["c1", "c2"]), calls(&["c3"]), Turn::text("noon")])
}

#[tokio::test]
async fn writes_of_tools_that_run_in_parallel_all_count() {
    let agent = react_agent(three(), (clock(),)).with(Counts);
    let agent = agent.compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(CALLS.read(&state.middleware).unwrap(), 3);
    assert_eq!(NAMES.read(&state.middleware).unwrap(), ["c1", "c2", "c3"]);
    assert_eq!(
        LAST.read(&state.middleware).unwrap()["get_current_time"],
        "c3"
    );
    assert_eq!(
        serde_json::to_value(&state).unwrap()["middleware"],
        json!({"calls": 3, "names": ["c1", "c2", "c3"], "last": {"get_current_time": "c3"}})
    );

    // Over a state of one's own, too.
    let agent = ReactAgent::<Desk>::new(three(), (clock(),)).with(Counts);
    let question = DeskUpdate::default().messages(vec![Message::user("?")]);
    let state = agent.compile().unwrap().invoke(question).await.unwrap();
    assert_eq!(CALLS.read(&state.extra).unwrap(), 3);
}

#[test]
fn two_fields_of_one_name_are_refused() {
    let agent = react_agent(three(), (clock(),)).with((Counts, Rival));
    let error = agent.compile().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the middlewares `Counts` and `Rival` both have the field `names`; \
         remove one, or give it another field"
    );
}

#[test]
fn a_state_without_room_for_fields_is_refused() {
    let agent = ReactAgent::<Chat>::new(three(), (clock(),)).with(Counts);
    let error = agent.compile().unwrap_err();
    assert!(matches!(&error, AgentBuildError::NoRoom { field, .. } if field == "calls"));
}

#[tokio::test]
async fn a_tool_of_middleware_writes_its_field() {
    let counts = || {
        ScriptedModel::new([
            Turn::tool_calls([call("c1", "count", json!({}))]),
            Turn::text("done"),
        ])
    };
    let agent = react_agent(counts(), ())
        .with(Writes(true))
        .compile()
        .unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(CALLS.read(&state.middleware).unwrap(), 5);

    let agent = react_agent(counts(), ())
        .with(Writes(false))
        .compile()
        .unwrap();
    let error = agent.invoke(MessagesStateUpdate::user("?")).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the middleware field `calls` is written"),
        "{error}"
    );
    assert!(error.contains("`AgentMiddleware::fields`"), "{error}");
}

#[test]
fn a_tool_of_middleware_with_the_name_of_another_is_refused() {
    let count = FnTool::new("count", "", || async { "1" });
    let agent = react_agent(ScriptedModel::new(["hi"]), (count,)).with(Writes(true));
    let error = agent.compile().unwrap_err();
    assert!(matches!(&error, AgentBuildError::TwoTools { tool, .. } if tool == "count"));
}

#[test]
fn a_write_is_merged_by_its_own_rule_and_refused_if_it_does_not_fit() {
    let fields = |value: Value| -> MessagesState {
        serde_json::from_value(json!({"messages": [], "middleware": value})).unwrap()
    };
    let update = |value: Value| -> MiddlewareFields { serde_json::from_value(value).unwrap() };
    let merge = |known: Value, write: Value| {
        let update = MessagesStateUpdate::default().middleware(update(write));
        let state = fields(known).merge(update)?;
        Ok::<_, langgraph::error::ReducerError>(serde_json::to_value(state.middleware).unwrap())
    };
    for (known, write, merged) in [
        (json!({"a": 1}), json!({"a": {"$add": 2}}), json!({"a": 3})),
        (json!({"a": 1}), json!({"a": [2]}), json!({"a": [2]})),
        (
            json!({"a": [1]}),
            json!({"a": {"$append": [2]}}),
            json!({"a": [1, 2]}),
        ),
        (
            json!({"a": {"x": 1, "y": 2}}),
            json!({"a": {"$merge": {"x": null, "z": 3}}}),
            json!({"a": {"y": 2, "z": 3}}),
        ),
        (
            json!({"a": null}),
            json!({"a": {"$add": 2}}),
            json!({"a": 2}),
        ),
        // A value that looks like a rule stays a value.
        (
            json!({}),
            json!({"a": {"$set": {"$add": 1}}}),
            json!({"a": {"$set": {"$add": 1}}}),
        ),
    ] {
        assert_eq!(merge(known, write).unwrap(), merged);
    }
    let error = merge(json!({"a": [1]}), json!({"a": {"$add": 2}})).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("middleware field `a`: a list cannot take an addition")
    );
}

/// Notes that it was tried, and fails at its first attempt.
#[tool]
async fn flaky(cx: &ToolContext<'_>) -> Result<String, ToolError> {
    let tried = cx.fields().append(NAMES, ["tried".to_owned()]);
    tried.map_err(ToolError::fatal)?;
    match cx.resource::<AtomicBool>().map_err(ToolError::fatal)? {
        tried if tried.swap(true, Ordering::Relaxed) => Ok("worked".to_owned()),
        _ => Err(ToolError::model("not yet")),
    }
}

#[tokio::test]
async fn a_failed_attempt_of_a_tool_writes_no_field() {
    for (attempts, expected) in [(1, json!(["1"])), (2, json!(["1", "tried"]))] {
        let turns = [
            Turn::tool_calls([call("1", "flaky", json!({}))]),
            Turn::text("done"),
        ];
        let retry = ToolRetry::policy(RetryPolicy::attempts(attempts).immediately());
        let agent = react_agent(ScriptedModel::new(turns), (flaky,)).with((Counts, retry));
        let agent = agent.compile().unwrap();
        let agent = agent.resource(Arc::new(AtomicBool::new(false)));
        let state = agent
            .invoke(MessagesStateUpdate::user("Go!"))
            .await
            .unwrap();
        assert_eq!(state.middleware.value("names"), Some(expected));
    }
}
