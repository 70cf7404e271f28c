//! The node that calls the model of an agent, inside its middleware.

use crate::middleware::{Chain, RunModel};
use crate::model::respond_inside;
use crate::{
    AgentContext, AgentState, ChatResponse, ModelCall, ModelNode, async_trait, check_answered,
};
use langgraph::error::NodeError;
use langgraph::message::Message;
use langgraph::node::{Command, Context, NeededResource, Node, NodeRun};

/// The node `agent`.
pub(super) struct CallModel {
    pub(super) model: ModelNode,
    /// The middleware around model calls.
    pub(super) chain: Chain,
    /// All middleware of the agent.
    pub(super) all: Chain,
    /// The edge to the tools whose bound the calls of a reply must keep, if it starts at a later node.
    pub(super) to_tools: Option<[String; 2]>,
}

/// The innermost part of a call: the model itself.
struct TheModel<'a>(&'a Context);

#[async_trait]
impl RunModel for TheModel<'_> {
    async fn run_model(&self, call: ModelCall) -> Result<ChatResponse, NodeError> {
        let model = &*call.model;
        Ok(respond_inside(&call.surroundings, model, call.request, Some(self.0)).await?)
    }
}

impl CallModel {
    async fn call<S: AgentState>(
        &self,
        state: &S,
        cx: &Context,
    ) -> Result<Vec<Command<S>>, NodeError> {
        let messages = state.messages();
        check_answered(messages)?;
        let call = ModelCall::new(self.model.model(cx)?, self.model.request(messages));
        let agent = AgentContext::new(cx, messages, state.middleware_fields());
        let reply = self.chain.call_model(call, &agent, &TheModel(cx)).await?;
        let reply = self.model.within_steps(reply.message, cx);
        self.check(&reply, &agent)?;
        let update = Command::update(S::update_from_messages(vec![reply]));
        let written = fields_update(&self.all, &agent)?;
        Ok([update].into_iter().chain(written).collect())
    }

    /// Checks a reply before it is stored. Behind it a run that fails would leave calls in the chat that no run
    /// answers.
    fn check(&self, reply: &Message, cx: &AgentContext<'_>) -> Result<(), NodeError> {
        for one in self.all.iter() {
            one.check_reply(reply, cx)?;
        }
        match &self.to_tools {
            Some([from, to]) => cx.check_bound(from, to, reply.tool_calls().len()),
            None => Ok(()),
        }
    }
}

impl<S: AgentState> Node<S> for CallModel {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(self.call(state, cx))
    }

    fn needs(&self) -> Vec<NeededResource> {
        self.model.needed_resources()
    }

    fn may_interrupt(&self) -> bool {
        self.chain.iter().any(|one| one.interrupts())
    }
}

/// Returns the update of the fields that a hook has written.
pub(super) fn fields_update<S: AgentState>(
    all: &Chain,
    cx: &AgentContext<'_>,
) -> Result<Option<Command<S>>, NodeError> {
    let written = cx.fields().take();
    if written.is_empty() {
        return Ok(None);
    }
    all.check_written(&written)?;
    Ok(S::update_from_fields(written).map(Command::update))
}
