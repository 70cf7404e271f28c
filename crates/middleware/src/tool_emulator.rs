//! A model in the place of tools.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::{Message, ToolCall, ToolResult};
use langgraph_agent::{
    AgentMiddleware, ChatModel, ChatModelExt as _, ChatRequest, Hook, NextTool, ToolAnswer,
    ToolContext, Tools, middleware,
};

/// Lets a model answer in the place of tools, to try an agent before its tools exist; as LangChain's
/// `LLMToolEmulator`.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, ScriptedModel, react_agent};
/// use langgraph_middleware::ToolEmulator;
///
/// let send = FnTool::new("send_mail", "Sends a mail.", || async { unreachable!() as &str });
/// let agent = react_agent(ScriptedModel::new(["hi"]), (send,))
///     .with(ToolEmulator::of(ScriptedModel::new(["sent"]), ["send_mail"]));
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct ToolEmulator {
    model: Arc<dyn ChatModel>,
    /// All tools, if `None`.
    tools: Option<Vec<String>>,
}

impl ToolEmulator {
    /// Answers in the place of all tools.
    pub fn all(model: impl ChatModel + 'static) -> Self {
        Self {
            model: Arc::new(model),
            tools: None,
        }
    }

    /// Answers in the place of these tools.
    pub fn of(
        model: impl ChatModel + 'static,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        Self {
            model: Arc::new(model),
            tools: Some(tools.into_iter().map(Into::into).collect()),
        }
    }
}

#[middleware]
impl AgentMiddleware for ToolEmulator {
    fn check(&self, tools: &Tools) -> Result<(), String> {
        tools.require(self.tools.iter().flatten())
    }

    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        let calls = Calls { model: 1, tool: 0 };
        if hook == Hook::AroundTool {
            inner.and(calls)
        } else {
            inner
        }
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        if self
            .tools
            .as_ref()
            .is_some_and(|of| !of.contains(&call.name))
        {
            return next.run(call).await;
        }
        let tool = cx.tools().get(&call.name);
        let purpose = tool.map_or("", |tool| &tool.definition().description);
        let prompt = format!(
            "You stand in for the tool `{}`: {purpose}\nAnswer the call as the tool would, with a \
             plausible result and nothing else.",
            call.name
        );
        let arguments = Message::user(call.arguments_text().into_owned());
        let request = ChatRequest::new(vec![arguments])
            .system(prompt)
            .streamed(false);
        let answer = self.model.respond(request, cx).await?.message;
        let result = ToolResult::new(&call.id, answer.text().into_owned());
        Ok(ToolAnswer::new(result.with_name(&call.name)))
    }
}

impl fmt::Debug for ToolEmulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEmulator")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
