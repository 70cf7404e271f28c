//! One request to a remote agent, and its reply.

use std::sync::Arc;
use std::time::Duration;

use langgraph::error::{NoRuntime, NodeError};
use langgraph::message::MessageChunk;
use langgraph::node::Context;
use langgraph::stream::StreamMode;
use serde::Deserialize as _;
use serde_json::Value;
use tracing::Instrument as _;

use super::RemoteNode;
use super::time_limit::TimeLimit;
use crate::bill::Bill;
use crate::propagate::context_of;
use crate::reply::ReplyAssembler;
use crate::{
    AgentEnvelope, AgentId, ConversationId, Deadline, EnvelopeBody, RemoteError, RequestId,
    StreamContent, TraceContext, Transport,
};

impl RemoteNode {
    /// Sends one request and waits for the complete reply.
    pub(super) async fn exchange(
        &self,
        body: EnvelopeBody,
        conversation: Option<ConversationId>,
        cx: &Context,
    ) -> Result<Value, NodeError> {
        let transport = match &self.transport {
            Some(transport) => Arc::clone(transport),
            None => cx
                .resource_arc::<dyn Transport>()
                .map_err(|_| RemoteError::NoTransport)?,
        };
        let id = RequestId::generate();
        let agent = self.agent.as_str();
        let span = tracing::info_span!(target: "langgraph", "ask", agent, request = id.as_str());
        let trace = context_of(&span);
        let trace = trace.or_else(|| cx.resource::<TraceContext>().ok().cloned());
        let timeout = self.limit(cx)?;
        let bill = Bill::of(cx);
        let request = AgentEnvelope {
            from: self.caller(cx),
            to: self.agent.clone(),
            request_id: Some(id.clone()),
            conversation,
            timeout,
            trace,
            allowance: bill.allowance(cx).await?,
            spent: None,
            body,
        };
        if let Some(limit) = timeout {
            NoRuntime::check(|| format!("the time limit of {limit:?} for a reply"))?;
        }
        let clock = TimeLimit::new(timeout);
        let exchange = self.carry(transport, request, id, clock, bill, cx);
        exchange.instrument(span).await
    }

    async fn carry(
        &self,
        transport: Arc<dyn Transport>,
        request: AgentEnvelope,
        id: RequestId,
        mut clock: TimeLimit,
        mut bill: Bill,
        cx: &Context,
    ) -> Result<Value, NodeError> {
        let mut parts = clock.within(transport.request(request)).await??;
        let mut reply = ReplyAssembler::new(self.limits);
        while let Some(part) = clock.within(parts.next()).await? {
            let part = part?;
            cx.heartbeat();
            self.check(&part, &id)?;
            bill.pay(&part, cx).await?;
            if let EnvelopeBody::StreamChunk { stream_id, chunk } = &part.body {
                emit_chunk(reply.content(&part), stream_id.as_str(), chunk, cx).await?;
            }
            if let Some(whole) = reply.push(part)? {
                return Ok(whole);
            }
        }
        Err(reply.cut_short().into())
    }

    /// Returns how long the reply may take: no longer than the requester of this run waits.
    fn limit(&self, cx: &Context) -> Result<Option<Duration>, RemoteError> {
        let Ok(deadline) = cx.resource::<Deadline>() else {
            return Ok(self.timeout);
        };
        let remaining = deadline.remaining();
        if remaining.is_zero() {
            return Err(RemoteError::TimedOut(remaining));
        }
        Ok(Some(
            self.timeout.map_or(remaining, |limit| limit.min(remaining)),
        ))
    }

    fn caller(&self, cx: &Context) -> AgentId {
        self.caller
            .clone()
            .or_else(|| cx.resource::<AgentId>().ok().cloned())
            .unwrap_or_else(|| AgentId::new(cx.thread_id().unwrap_or_else(|| cx.run_id())))
    }

    fn check(&self, part: &AgentEnvelope, id: &RequestId) -> Result<(), RemoteError> {
        if part.from == self.agent && part.request_id.as_ref() == Some(id) {
            return Ok(());
        }
        let found = match &part.request_id {
            Some(other) => format!("one of `{}` to request `{other}`", part.from),
            None => format!("one of `{}` without a request id", part.from),
        };
        Err(RemoteError::Misdelivered {
            expected: self.agent.clone(),
            request: id.clone(),
            found,
        })
    }
}

/// Emits a chunk of a reply to the event stream.
async fn emit_chunk(
    content: Option<StreamContent>,
    stream: &str,
    chunk: &Value,
    cx: &Context,
) -> Result<(), NodeError> {
    if !cx.wants(StreamMode::Messages) && !cx.wants(StreamMode::Custom) {
        return Ok(());
    }
    let message = match (content, chunk) {
        (None | Some(StreamContent::Text), Value::String(text)) => {
            Some(MessageChunk::text(text).with_id(stream))
        }
        (Some(StreamContent::Messages), chunk) => MessageChunk::deserialize(chunk).ok(),
        _ => None,
    };
    match message {
        Some(chunk) => cx.emit_chunk(chunk).await,
        None => cx.emit(chunk).await?,
    }
    Ok(())
}
