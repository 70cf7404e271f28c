//! The middleware of an agent, as onions around its calls.

use std::sync::Arc;

use super::{
    AgentContext, AgentMiddleware, Hook, MiddlewareFields, ModelCall, NextModel, NextTool,
    ToolAnswer,
};
use super::{RunModel, RunTool};
use crate::approval::add_new;
use crate::join_all::join_all;
use crate::{ChatResponse, DecisionKind, ToolContext, async_trait};
use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::ToolCall;

/// The middleware of an agent, the outermost first.
#[derive(Clone, Default)]
pub(crate) struct Chain(Vec<Arc<dyn AgentMiddleware>>);

impl Chain {
    pub(crate) fn extend(&mut self, more: Vec<Arc<dyn AgentMiddleware>>) {
        self.0.extend(more);
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Arc<dyn AgentMiddleware>> {
        self.0.iter()
    }

    /// Returns those that have one of these hooks.
    pub(crate) fn having(&self, hooks: &[Hook]) -> Self {
        let has = |one: &&Arc<dyn AgentMiddleware>| hooks.iter().any(|hook| has(&***one, *hook));
        Self(self.0.iter().filter(has).cloned().collect())
    }

    /// Returns those that have this hook, in the order in which it runs as a node: what hides data is the first.
    pub(crate) fn in_order(&self, hook: Hook) -> Vec<Arc<dyn AgentMiddleware>> {
        let Self(mut having) = self.having(&[hook]);
        if matches!(hook, Hook::AfterModel | Hook::AfterAgent) {
            having.reverse();
        }
        having.sort_by_key(|one| !one.hides());
        having
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how often they let a run call the model at most, if one limits that.
    pub(crate) fn model_calls(&self) -> Option<u32> {
        self.0.iter().filter_map(|one| one.model_calls()).min()
    }

    /// Returns how many calls of tools of a run they let through at most, if one limits that.
    pub(crate) fn tool_calls(&self) -> Option<u32> {
        self.0.iter().filter_map(|one| one.tool_calls()).min()
    }

    /// Returns what a call of the model calls at worst, with what surrounds it.
    pub(crate) fn calls_of_model(&self) -> Calls {
        let model = Calls { model: 1, tool: 0 };
        let all = self.0.iter().rev();
        all.fold(model, |calls, one| one.calls(Hook::AroundModel, calls))
    }

    /// Returns what a call of a tool calls at worst, with what surrounds it.
    pub(crate) fn calls_of_tool(&self, tool: Calls) -> Calls {
        let around = self.0.iter().rev();
        let around = around.fold(tool, |calls, one| one.calls(Hook::AroundTool, calls));
        let hiding = self.0.iter().filter(|one| one.hides());
        let after = self.0.iter().chain(hiding);
        let after = after.map(|one| one.calls(Hook::AfterTool, Calls::default()));
        after.fold(around, Calls::and)
    }

    /// Returns the decisions that a person may take before a call of the tool runs.
    pub(crate) fn decisions(&self, tool: &str) -> Vec<DecisionKind> {
        let mut found = Vec::new();
        for one in &self.0 {
            add_new(&mut found, &one.decisions(tool));
        }
        found
    }

    /// Returns the names, for pictures.
    pub(crate) fn names(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|one| one.name()).collect();
        names.join(", ")
    }

    /// Makes a model call through all of the middleware.
    pub(crate) async fn call_model(
        &self,
        call: ModelCall,
        cx: &AgentContext<'_>,
        model: &dyn RunModel,
    ) -> Result<ChatResponse, NodeError> {
        let all = ModelChain {
            rest: &self.0,
            cx,
            model,
        };
        all.run_model(call).await
    }

    /// Calls a tool through all of the middleware.
    pub(crate) async fn call_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        tool: &dyn RunTool,
    ) -> Result<ToolAnswer, NodeError> {
        let all = ToolChain {
            rest: &self.0,
            all: self,
            cx,
            tool,
        };
        let answer = all.run_tool(call).await?;
        // Other middleware may have changed the answer, or have answered itself.
        self.hide(answer, cx).await
    }

    /// Has what hides data read the answer of a tool.
    async fn hide(
        &self,
        mut answer: ToolAnswer,
        cx: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        for one in self.0.iter().rev().filter(|one| one.hides()) {
            answer = one.after_tool(answer, cx).await?;
        }
        Ok(answer)
    }

    /// Refuses writes of fields that no middleware has declared.
    pub(crate) fn check_written(&self, written: &MiddlewareFields) -> Result<(), NodeError> {
        let declared: Vec<_> = self.0.iter().flat_map(|one| one.fields()).collect();
        match written.names().find(|name| !declared.contains(name)) {
            None => Ok(()),
            Some(name) => Err(NodeError::msg(format!(
                "the middleware field `{name}` is written, and none of {} declares it; return its name from `AgentMiddleware::fields`",
                self.names(),
            ))),
        }
    }
}

pub(crate) fn has(one: &dyn AgentMiddleware, hook: Hook) -> bool {
    one.hooks().contains(&hook)
}

struct ModelChain<'a> {
    rest: &'a [Arc<dyn AgentMiddleware>],
    cx: &'a AgentContext<'a>,
    model: &'a dyn RunModel,
}

#[async_trait]
impl RunModel for ModelChain<'_> {
    async fn run_model(&self, call: ModelCall) -> Result<ChatResponse, NodeError> {
        let Some((one, rest)) = self.rest.split_first() else {
            return self.model.run_model(call).await;
        };
        let next = Self { rest, ..*self };
        one.around_model(call, self.cx, NextModel::new(&next)).await
    }
}

struct ToolChain<'a> {
    rest: &'a [Arc<dyn AgentMiddleware>],
    all: &'a Chain,
    cx: &'a ToolContext<'a>,
    tool: &'a dyn RunTool,
}

#[async_trait]
impl RunTool for ToolChain<'_> {
    async fn run_tool(&self, call: ToolCall) -> Result<ToolAnswer, NodeError> {
        let Some((one, rest)) = self.rest.split_first() else {
            let answer = self.tool.run_tool(call).await?;
            // Before other middleware stores the answer.
            return self.all.hide(answer, self.cx).await;
        };
        let next = Self { rest, ..*self };
        let through = async {
            let run = NextTool::new(&next);
            let answer = one.around_tool(call.clone(), self.cx, run).await?;
            if one.hides() {
                return Ok(answer);
            }
            one.after_tool(answer, self.cx).await
        };
        // Middleware further outside sees a panic as it sees one of the tool.
        let answer = join_all([Box::pin(through)]).await.pop();
        let answer = answer.unwrap_or_else(|| Err("the call has vanished".to_owned()));
        answer.unwrap_or_else(|panic| self.panicked(&call, &panic))
    }

    fn panicked(&self, call: &ToolCall, panic: &str) -> Result<ToolAnswer, NodeError> {
        self.tool.panicked(call, panic)
    }
}
