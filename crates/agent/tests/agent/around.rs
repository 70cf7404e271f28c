//! What surrounds an agent: hooks, their order, their gotos and their fields.

mod durable;
mod fields;
mod gotos;
mod ready;

use std::sync::{Arc, Mutex};

use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentBuildError, AgentContext, AgentUpdate, Hook, MessagesState, MessagesStateUpdate,
    ModelCall, NextModel, NextTool, ScriptedModel, ToolAnswer, Turn, check_answered, react_agent,
};

use super::support::{asks_the_time, clock};

/// What has happened, in its order.
#[derive(Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub(super) fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Notes each hook.
pub(super) struct Notes {
    pub(super) name: &'static str,
    pub(super) seen: Seen,
}

impl Notes {
    fn note(&self, what: &str) {
        self.seen.note(format!("{} {what}", self.name));
    }
}

#[middleware]
impl AgentMiddleware for Notes {
    fn name(&self) -> &str {
        self.name
    }

    async fn before_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        self.note("before_agent");
        Ok(AgentUpdate::default())
    }

    async fn before_model(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        self.note("before_model");
        Ok(AgentUpdate::default())
    }

    async fn around_model(
        &self,
        call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        self.note("around_model {");
        let answer = next.run(call).await;
        self.note("} around_model");
        answer
    }

    async fn after_model(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        self.note("after_model");
        Ok(AgentUpdate::default())
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        _: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        self.note("around_tool {");
        let answer = next.run(call).await;
        self.note("} around_tool");
        answer
    }

    async fn after_tool(
        &self,
        answer: ToolAnswer,
        _: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        self.note("after_tool");
        Ok(answer)
    }

    async fn after_agent(&self, _: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        self.note("after_agent");
        Ok(AgentUpdate::default())
    }
}

pub(super) fn two(seen: &Seen) -> (Notes, Notes) {
    let one = |name| Notes {
        name,
        seen: seen.clone(),
    };
    (one("A"), one("B"))
}

#[tokio::test]
async fn all_seven_hooks_run_as_onions_in_the_order_of_the_list() {
    let seen = Seen::default();
    let model = ScriptedModel::new([asks_the_time("c1"), Turn::text("noon")]);
    let agent = react_agent(model, (clock(),)).with(two(&seen));
    let agent = agent.compile().unwrap();
    agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let model = [
        "A before_model",
        "B before_model",
        "A around_model {",
        "B around_model {",
        "B } around_model",
        "A } around_model",
        "B after_model",
        "A after_model",
    ];
    let tool = [
        "A around_tool {",
        "B around_tool {",
        "B } around_tool",
        "B after_tool",
        "A } around_tool",
        "A after_tool",
    ];
    let before = ["A before_agent", "B before_agent"];
    let after = ["B after_agent", "A after_agent"];
    let expected = [&before[..], &model, &tool, &model, &after].concat();
    assert_eq!(seen.take(), expected);
}

#[tokio::test]
async fn hooks_run_in_an_agent_without_tools_and_lists_add_up() {
    let seen = Seen::default();
    let (a, b) = two(&seen);
    let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(a).with(b);
    let agent = agent.compile().unwrap();
    agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let seen = seen.take();
    assert_eq!(seen[0], "A before_agent");
    assert_eq!(seen[seen.len() - 2..], ["B after_agent", "A after_agent"]);
}

#[test]
fn the_picture_shows_the_hooks() {
    let seen = Seen::default();
    let agent = react_agent(ScriptedModel::new(["hi"]), (clock(),)).with(two(&seen));
    let graph = agent.into_graph().unwrap();
    let topology = graph.topology();
    let names: Vec<_> = topology.nodes.iter().map(|node| &*node.name).collect();
    for hook in [
        Hook::BeforeAgent,
        Hook::BeforeModel,
        Hook::AfterModel,
        Hook::AfterAgent,
    ] {
        for name in ["A", "B"] {
            assert!(names.contains(&&*format!("{name}.{hook}")), "{names:?}");
        }
    }
    let around = |node: &str| {
        let node = topology.nodes.iter().find(|one| &*one.name == node);
        node.unwrap().metadata.get("middleware").cloned()
    };
    assert_eq!(around("agent").as_deref(), Some("A, B"));
    assert_eq!(around("tools").as_deref(), Some("A, B"));
    let picture = graph.draw().terminal();
    assert!(picture.contains("A.before_model"), "{picture}");
}

#[tokio::test]
async fn an_agent_with_hooks_says_so_when_no_steps_are_left_for_its_tools() {
    // Eleven supersteps: two hooks, two before the model, the model, two after, the tools, …
    for limit in 10..24 {
        let seen = Seen::default();
        let turns = (0..10).map(|n| asks_the_time(&format!("c{n}")));
        let agent = react_agent(ScriptedModel::new(turns), (clock(),)).with(two(&seen));
        let agent = agent.compile().unwrap();
        let run = agent.run(MessagesStateUpdate::user("time?")).limit(limit);
        let state = run.await.unwrap().finished().unwrap();
        let last = state.messages.last().unwrap();
        assert!(last.text().starts_with("Sorry, need more"), "limit {limit}");
        check_answered(&state.messages).unwrap();
        assert_eq!(seen.take().last().unwrap(), "A after_agent");
    }
}

#[tokio::test]
async fn middlewares_with_nodes_of_the_same_name_are_refused() {
    let seen = Seen::default();
    let ((one, _), (same, _)) = (two(&seen), two(&seen));
    let agent = react_agent(ScriptedModel::new(["hi"]), ()).with((one, same));
    let error = agent.clone().compile().unwrap_err();
    assert!(matches!(&error, AgentBuildError::TwoNames { name, .. } if name == "A"));
    assert!(error.to_string().contains("`A.before_agent`"), "{error}");
    // One that is not compiled before is refused when it runs.
    let refused = agent.run(MessagesState::default()).await.unwrap_err();
    assert!(
        refused.to_string().contains(&error.to_string()),
        "{refused}"
    );
}
