//! Requests that carry less of the history.

use langgraph::error::NodeError;
use langgraph::message::{Content, Message, MessageKind};
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatResponse, ModelCall, NextModel, TokenCount, Tools,
    middleware,
};

/// Sends the model a long history without the results of older tool calls; as LangChain's
/// `ContextEditingMiddleware` with `ClearToolUsesEdit`. The state keeps all of it.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_middleware::ContextEditing;
///
/// let lean = ContextEditing::above(100_000).keep(3);
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(lean);
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Debug)]
pub struct ContextEditing {
    above: u64,
    keep: usize,
    except: Vec<String>,
    placeholder: String,
}

impl ContextEditing {
    /// Above so many tokens, as an estimate, clears the results of tool calls but for the last three.
    pub fn above(tokens: u64) -> Self {
        Self {
            above: tokens,
            keep: 3,
            except: Vec::new(),
            placeholder: "[cleared]".to_owned(),
        }
    }

    /// Sets how many of the latest results stay.
    #[must_use]
    pub fn keep(mut self, results: usize) -> Self {
        self.keep = results;
        self
    }

    /// Keeps the results of these tools.
    #[must_use]
    pub fn except(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.except.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets what the model reads in the place of a result.
    #[must_use]
    pub fn placeholder(mut self, text: impl Into<String>) -> Self {
        self.placeholder = text.into();
        self
    }

    /// Replaces results but for the last ones.
    fn clear(&self, messages: &mut [Message]) {
        let mut kept = 0;
        for message in messages.iter_mut().rev() {
            let MessageKind::Tool(result) = &mut message.kind else {
                continue;
            };
            let name = result.name.as_ref();
            if name.is_some_and(|name| self.except.contains(name)) {
                continue;
            }
            kept += 1;
            if kept > self.keep {
                result.content = Content::Text(self.placeholder.clone());
            }
        }
    }
}

#[middleware]
impl AgentMiddleware for ContextEditing {
    fn check(&self, tools: &Tools) -> Result<(), String> {
        tools.require(&self.except)
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        if TokenCount::estimate(&call.request).tokens > self.above {
            self.clear(&mut call.request.messages);
        }
        next.run(call).await
    }
}
