//! Middleware on threads: pauses, failures, and what is not repeated.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentContext, AgentUpdate, FnTool, MessagesState, MessagesStateUpdate, MiddlewareField,
    ModelErrorKind, NextTool, ScriptedModel, ToolAnswer, Turn, react_agent,
};
use serde_json::json;

use super::super::support::{call, clock};
use super::Seen;

const ROUNDS: MiddlewareField<u64> = MiddlewareField::new("rounds");

/// Asks around each call of a tool, and counts the rounds of the model.
struct Asks(Seen);

#[middleware]
impl AgentMiddleware for Asks {
    fn fields(&self) -> Vec<&'static str> {
        vec![ROUNDS.name()]
    }

    fn interrupts(&self) -> bool {
        true
    }

    async fn before_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        self.0.note("before_model");
        cx.fields().add(ROUNDS, 1)?;
        Ok(AgentUpdate::default())
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let said: String = cx.interrupt(&call.id, "what time is it really?")?;
        let mut answer = next.run(call.clone()).await?;
        self.0.note(format!("ran {}", call.id));
        answer.result.content = format!("{} ({said})", answer.result.content.text()).into();
        Ok(answer)
    }
}

#[tokio::test]
async fn a_pause_around_a_tool_goes_on_with_the_answer_and_repeats_no_other_call() {
    let seen = Seen::default();
    let calls = ["c1", "c2"].map(|id| call(id, "get_current_time", json!({})));
    let model = ScriptedModel::new([Turn::tool_calls(calls), Turn::text("noon")]);
    let agent = react_agent(model.clone(), (clock(),)).with(Asks(seen.clone()));
    let agent = agent.compile().unwrap();

    let refused = agent.invoke(MessagesStateUpdate::user("?")).await;
    assert!(refused.unwrap_err().to_string().contains("checkpointer"));
    assert!(model.requests().is_empty());

    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let outcome = thread.run(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 2);
    let outcome = thread.resume("c1", "one").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(seen.take(), ["before_model", "ran c1"]);
    let outcome = thread.resume("c2", "two").await.unwrap();
    assert_eq!(seen.take(), ["ran c2", "before_model"]);
    let state = outcome.finished().unwrap();
    assert_eq!(state.messages[2].text(), "2024-01-01 12:00:00 (one)");
    assert_eq!(state.messages[3].text(), "2024-01-01 12:00:00 (two)");
    assert_eq!(ROUNDS.read(&state.middleware).unwrap(), 2);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_run_that_dies_between_a_hook_and_the_model_does_not_repeat_the_hook() {
    let seen = Seen::default();
    let dead = ModelError::new(ModelErrorKind::Transport, "the process dies here");
    let model = ScriptedModel::new([Turn::error(dead), Turn::text("noon")]);
    let agent = react_agent(model, (clock(),)).with(Asks(seen.clone()));
    let agent = agent.compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    thread
        .run(MessagesStateUpdate::user("?"))
        .await
        .unwrap_err();
    assert_eq!(seen.take(), ["before_model"]);
    let stored = thread.state().await.unwrap().unwrap().values;
    assert_eq!(ROUNDS.read(&stored.middleware).unwrap(), 1);

    let state = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(seen.take(), Vec::<String>::new());
    assert_eq!(state.messages[1].text(), "noon");
    assert_eq!(ROUNDS.read(&state.middleware).unwrap(), 1);

    // Fields stay with the thread.
    let again = thread.run(MessagesStateUpdate::user("?")).await;
    assert!(again.is_err(), "no turn is left");
    let stored = thread.state().await.unwrap().unwrap().values;
    assert_eq!(ROUNDS.read(&stored.middleware).unwrap(), 2);
}

/// Marks each answer of a tool.
struct Marks(Seen);

#[middleware]
impl AgentMiddleware for Marks {
    async fn after_tool(
        &self,
        mut answer: ToolAnswer,
        cx: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        self.0.note(&cx.call().id);
        answer.result.content = format!("{}!", answer.result.content.text()).into();
        Ok(answer)
    }
}

#[tokio::test]
async fn an_answer_that_is_stored_is_not_marked_again_after_a_failure_or_from_an_older_checkpoint()
{
    let seen = Seen::default();
    let failures = Arc::new(AtomicUsize::new(1));
    let flaky = FnTool::new("flaky", "Fails once.", move || {
        let fails = failures.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        async move {
            match fails {
                Ok(_) => Err(ToolError::fatal(NodeError::msg("the process dies here"))),
                Err(_) => Ok("done"),
            }
        }
    });
    let calls = [("c1", "get_current_time"), ("c2", "flaky")];
    let calls = calls.map(|(id, name)| call(id, name, json!({})));
    let turns = [Turn::tool_calls(calls)].into_iter();
    let turns = turns.chain(["noon", "one", "two"].map(Turn::text));
    let agent = react_agent(ScriptedModel::new(turns), (clock(), flaky));
    let agent = agent.with(Marks(seen.clone())).compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    thread
        .run(MessagesStateUpdate::user("?"))
        .await
        .unwrap_err();
    assert_eq!(seen.take(), ["c1"]);
    let state = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(seen.take(), ["c2"]);
    let texts = |state: &MessagesState| [2, 3].map(|at| state.messages[at].text().into_owned());
    assert_eq!(texts(&state), ["2024-01-01 12:00:00!", "done!"]);

    // Behind the answers, and before them.
    let history = thread.history().await.unwrap();
    for (messages, marked) in [(4, &[][..]), (2, &["c1", "c2"][..])] {
        let at = history
            .iter()
            .find(|at| at.values.messages.len() == messages);
        let again = thread.at(at.unwrap().id).proceed().await.unwrap();
        let mut seen = seen.take();
        seen.sort();
        assert_eq!(seen, marked);
        let state = again.finished();
        assert_eq!(texts(&state.unwrap()), ["2024-01-01 12:00:00!", "done!"]);
    }
}
