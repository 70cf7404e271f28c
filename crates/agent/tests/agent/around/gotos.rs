//! Where hooks send an agent.

use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentContext, AgentGoto, AgentUpdate, MessagesStateUpdate, ScriptedModel, Turn, react_agent,
};
use serde_json::json;

use super::super::support::{asks_the_time, call, clock};
use super::{Notes, Seen};

/// Goes somewhere after the model or before the agent, once.
struct Goes {
    to: AgentGoto,
    declared: &'static [AgentGoto],
    before: Option<Message>,
    /// Only after an answer with this text.
    after: Option<&'static str>,
}

#[middleware]
impl AgentMiddleware for Goes {
    fn gotos(&self) -> &'static [AgentGoto] {
        self.declared
    }

    async fn before_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        Ok(match self.before.clone() {
            Some(message) => AgentUpdate::messages([message]).and_goto(self.to),
            None => AgentUpdate::default(),
        })
    }

    async fn after_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let last = cx.messages().last().map(Message::text).unwrap_or_default();
        if self.after != Some(&*last) {
            return Ok(AgentUpdate::default());
        }
        let again = Message::user("Again, please.");
        Ok(AgentUpdate::messages([again]).and_goto(self.to))
    }
}

async fn trail(model: ScriptedModel, goes: Goes) -> (Vec<String>, Vec<String>) {
    let seen = Seen::default();
    let notes = Notes {
        name: "N",
        seen: seen.clone(),
    };
    let agent = react_agent(model, (clock(),)).with((notes, goes));
    let agent = agent.compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let texts = state.messages.iter().map(|one| one.text().into_owned());
    (seen.take(), texts.collect())
}

#[tokio::test]
async fn a_goto_to_the_end_runs_the_hooks_after_the_agent_and_no_model() {
    let goes = Goes {
        to: AgentGoto::End,
        declared: &[AgentGoto::End],
        before: Some(Message::assistant("no")),
        after: None,
    };
    let (trail, texts) = trail(ScriptedModel::new(["never"]), goes).await;
    assert_eq!(trail, ["N before_agent", "N after_agent"]);
    assert_eq!(texts, ["?", "no"]);
}

/// Goes to the end after the agent, where it is on the way already.
struct Leaves {
    seen: Seen,
}

#[middleware]
impl AgentMiddleware for Leaves {
    fn gotos(&self) -> &'static [AgentGoto] {
        &[AgentGoto::End]
    }

    async fn after_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        self.seen.note("Leaves after_agent");
        Ok(AgentUpdate::messages([Message::assistant("bye")]).and_goto(AgentGoto::End))
    }
}

#[tokio::test]
async fn a_goto_to_the_end_after_the_agent_runs_each_remaining_hook_once() {
    let seen = Seen::default();
    let notes = |name| Notes {
        name,
        seen: seen.clone(),
    };
    let leaves = Leaves { seen: seen.clone() };
    let agent = react_agent(ScriptedModel::new(["noon"]), (clock(),));
    let agent = agent.with((notes("A"), leaves, notes("B")));
    let state = agent.compile().unwrap();
    let state = state.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let mut trail = seen.take();
    trail.retain(|one| one.ends_with("after_agent"));
    assert_eq!(
        trail,
        ["B after_agent", "Leaves after_agent", "A after_agent"]
    );
    let texts: Vec<_> = state.messages.iter().map(Message::text).collect();
    assert_eq!(texts, ["?", "noon", "bye"]);

    // The last hook leads out.
    let leaves = Leaves { seen: seen.clone() };
    let agent = react_agent(ScriptedModel::new(["noon"]), ()).with(leaves);
    let state = agent.compile().unwrap();
    let state = state.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(state.messages.len(), 3);
    assert_eq!(seen.take(), ["Leaves after_agent"]);
}

#[tokio::test]
async fn a_goto_to_the_model_passes_the_hooks_before_it() {
    let goes = Goes {
        to: AgentGoto::Model,
        declared: &[AgentGoto::Model],
        before: None,
        after: Some("bad"),
    };
    let (trail, texts) = trail(ScriptedModel::new(["bad", "good"]), goes).await;
    let models = trail.iter().filter(|one| *one == "N before_model");
    assert_eq!(models.count(), 2);
    assert_eq!(texts, ["?", "bad", "Again, please.", "good"]);
}

#[tokio::test]
async fn a_goto_to_the_tools_runs_the_open_calls_without_the_model() {
    let calls = [call("c1", "get_current_time", json!({}))];
    let goes = Goes {
        to: AgentGoto::Tools,
        declared: &[AgentGoto::Tools],
        before: Some(Message::assistant_with_tool_calls("", calls)),
        after: None,
    };
    let (trail, texts) = trail(ScriptedModel::new(["noon"]), goes).await;
    assert_eq!(trail[1], "N around_tool {");
    assert_eq!(texts, ["?", "", "2024-01-01 12:00:00", "noon"]);
}

#[tokio::test]
async fn a_goto_that_is_not_declared_or_has_nothing_to_do_is_an_error() {
    let run = async |to, declared, before| {
        let goes = Goes {
            to,
            declared,
            before: Some(before),
            after: None,
        };
        let model = ScriptedModel::new([asks_the_time("c1"), Turn::text("noon")]);
        let agent = react_agent(model, (clock(),)).with(goes).compile().unwrap();
        let run = agent.invoke(MessagesStateUpdate::user("?")).await;
        run.unwrap_err().to_string()
    };
    let error = run(
        AgentGoto::End,
        &[AgentGoto::Model],
        Message::assistant("no"),
    )
    .await;
    assert!(
        error.contains(
            "`before_agent` of the middleware `Goes` goes to `End`, which `gotos` does not"
        ),
        "{error}"
    );
    let error = run(
        AgentGoto::Tools,
        &[AgentGoto::Tools],
        Message::assistant("no"),
    )
    .await;
    assert!(error.contains("the chat has no open tool call"), "{error}");
}
