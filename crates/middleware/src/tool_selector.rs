//! Fewer tools for the model.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::Message;
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatModel, ChatModelExt as _, ChatRequest, ChatResponse, Hook,
    ModelCall, NextModel, STRUCTURED_CALLS, ToolDefinition, Tools, middleware,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::said;

/// Lets a model choose which tools the agent's model sees; as LangChain's `LLMToolSelectorMiddleware`.
///
/// A small model reads the names and the descriptions; the agent's model gets only the tools that it
/// chooses. Calls of all tools still work.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, ScriptedModel, react_agent};
/// use langgraph_middleware::ToolSelector;
///
/// let tool = |name| FnTool::new(name, "Does something.", || async { "done" });
/// let small = ScriptedModel::new([r#"{"tools": ["read"]}"#]);
/// let agent = react_agent(ScriptedModel::new(["hi"]), (tool("read"), tool("write"), tool("search")))
///     .with(ToolSelector::new(small, 1).always(["search"]));
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct ToolSelector {
    model: Arc<dyn ChatModel>,
    at_most: usize,
    always: Vec<String>,
}

/// The answer of the model that chooses.
#[derive(Deserialize, JsonSchema)]
struct Chosen {
    /// The names of the tools, the most useful first.
    tools: Vec<String>,
}

impl ToolSelector {
    /// Lets `model` choose up to so many tools. With 0, it is not asked, and no tool is chosen.
    pub fn new(model: impl ChatModel + 'static, at_most: usize) -> Self {
        Self {
            model: Arc::new(model),
            at_most,
            always: Vec::new(),
        }
    }

    /// Keeps these tools in every request. They do not count.
    #[must_use]
    pub fn always(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.always.extend(tools.into_iter().map(Into::into));
        self
    }

    async fn choose(
        &self,
        request: &ChatRequest,
        cx: &AgentContext<'_>,
    ) -> Result<Option<Vec<String>>, NodeError> {
        let open = |tool: &&ToolDefinition| !self.always.contains(&tool.name);
        let open: Vec<_> = request.tools.iter().filter(open).collect();
        if open.len() <= self.at_most {
            return Ok(None);
        }
        if self.at_most == 0 {
            return Ok(Some(Vec::new()));
        }
        let Some(question) = said::question(&request.messages) else {
            return Ok(None);
        };
        let lines = open
            .iter()
            .map(|tool| format!("- {}: {}\n", tool.name, tool.description));
        let prompt = format!(
            "Choose the tools that help to answer the user, at most {}, the most useful first. \
             Do not answer the user.\n{}",
            self.at_most,
            lines.collect::<String>(),
        );
        let request = ChatRequest::new(vec![Message::user(question.text())]).system(prompt);
        let chosen: Chosen = self.model.structured(request).send(cx).await?.value;
        // A name that is not on the list chooses nothing.
        let known = |name: &String| open.iter().any(|tool| tool.name == *name);
        let chosen = chosen.tools.into_iter().filter(known);
        Ok(Some(chosen.take(self.at_most).collect()))
    }
}

#[middleware]
impl AgentMiddleware for ToolSelector {
    fn check(&self, tools: &Tools) -> Result<(), String> {
        tools.require(&self.always)
    }

    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        if hook == Hook::AroundModel {
            inner.and(STRUCTURED_CALLS)
        } else {
            inner
        }
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        if let Some(chosen) = self.choose(&call.request, cx).await? {
            let keeps = |tool: &ToolDefinition| {
                self.always.contains(&tool.name) || chosen.contains(&tool.name)
            };
            call.request.tools.retain(keeps);
        }
        next.run(call).await
    }
}

impl fmt::Debug for ToolSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSelector")
            .field("at_most", &self.at_most)
            .field("always", &self.always)
            .finish_non_exhaustive()
    }
}
