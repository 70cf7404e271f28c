//! The node of one hook of middleware.

use std::sync::Arc;

use super::call_model::fields_update;
use crate::middleware::Chain;
use crate::{
    AgentContext, AgentGoto, AgentMiddleware, AgentState, AgentUpdate, Hook, pending_calls,
};
use langgraph::error::NodeError;
use langgraph::message::ToolCall;
use langgraph::node::{Command, Context, Node, NodeRun, Send, Target, Worker};

/// The node of one hook.
pub(super) struct RunHook {
    pub(super) one: Arc<dyn AgentMiddleware>,
    pub(super) hook: Hook,
    pub(super) places: Places,
    /// All middleware of the agent.
    pub(super) all: Chain,
}

/// Where the gotos of hooks lead.
#[derive(Clone)]
pub(super) struct Places {
    pub(super) end: String,
    pub(super) model: String,
    pub(super) tools: Option<Worker<ToolCall>>,
}

impl Places {
    /// Returns the node of a goto, for the picture.
    pub(super) fn node(&self, goto: AgentGoto) -> Option<&str> {
        match goto {
            AgentGoto::End => Some(&self.end),
            AgentGoto::Model => Some(&self.model),
            AgentGoto::Tools => self.tools.as_ref().map(Worker::name),
        }
    }
}

impl RunHook {
    /// Returns the name of the node.
    pub(super) fn name_of(one: &dyn AgentMiddleware, hook: Hook) -> String {
        format!("{}.{hook}", one.name())
    }

    async fn call<S: AgentState>(
        &self,
        state: &S,
        cx: &Context,
    ) -> Result<Vec<Command<S>>, NodeError> {
        let agent = AgentContext::new(cx, state.messages(), state.middleware_fields());
        let AgentUpdate { messages, goto } = match self.hook {
            Hook::BeforeAgent => self.one.before_agent(&agent).await?,
            Hook::BeforeModel => self.one.before_model(&agent).await?,
            Hook::AfterModel => self.one.after_model(&agent).await?,
            Hook::AfterAgent => self.one.after_agent(&agent).await?,
            Hook::AroundModel | Hook::AroundTool | Hook::AfterTool => AgentUpdate::default(),
        };
        let mut commands: Vec<Command<S>> = fields_update(&self.all, &agent)?.into_iter().collect();
        let mut chat = None;
        if !messages.is_empty() {
            if goto == Some(AgentGoto::Tools) {
                let update = S::update_from_messages(messages.clone());
                chat = Some(state.clone().merge(update)?);
            }
            commands.push(Command::update(S::update_from_messages(messages)));
        }
        if let Some(goto) = goto {
            let targets = self.targets(goto, chat.as_ref().unwrap_or(state))?;
            commands.push(Command::goto(targets));
        }
        Ok(commands)
    }

    fn targets<S: AgentState>(
        &self,
        goto: AgentGoto,
        state: &S,
    ) -> Result<Vec<Target<S>>, NodeError> {
        let name = self.one.name();
        if !self.one.gotos().contains(&goto) {
            return Err(NodeError::msg(format!(
                "`{}` of the middleware `{name}` goes to `{goto:?}`, which `gotos` does not declare; return it from `AgentMiddleware::gotos`",
                self.hook
            )));
        }
        let (AgentGoto::Tools, Some(worker)) = (goto, &self.places.tools) else {
            let node = self.places.node(goto).ok_or_else(|| {
                NodeError::msg(format!(
                    "`{}` of the middleware `{name}` goes to the tools, and the agent has none",
                    self.hook
                ))
            });
            return Ok(vec![Target::Node(node?.into())]);
        };
        let calls = pending_calls(state.messages());
        if calls.is_empty() {
            return Err(NodeError::msg(format!(
                "`{}` of the middleware `{name}` goes to the tools, and the chat has no open tool call; add an assistant message with calls",
                self.hook
            )));
        }
        let sends = calls.into_iter().map(|call| Send::to(worker, call));
        Ok(sends.map(Target::Send).collect())
    }
}

impl<S: AgentState> Node<S> for RunHook {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(self.call(state, cx))
    }

    fn may_interrupt(&self) -> bool {
        self.one.interrupts()
    }
}
