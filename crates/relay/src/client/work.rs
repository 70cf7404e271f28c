//! The work on one request.

use std::sync::Arc;

use langgraph_remote::{
    AgentEnvelope, EnvelopeBody, ErrorCode, RemoteError, ReplyEnding, Transport,
};

use super::answers::Key;
use super::state::ClientCore;

/// Ends a reply, however its work ends.
struct FinishOnDrop {
    client: Arc<ClientCore>,
    key: Key,
    request: AgentEnvelope,
    complete: bool,
}

impl FinishOnDrop {
    fn add(&self, envelope: AgentEnvelope) {
        self.client.state().answers.add(&self.key, envelope);
        self.client.wake.notify_one();
    }

    fn fail(&self, error: &RemoteError) {
        let code = match error {
            RemoteError::TimedOut(_) => ErrorCode::TimedOut,
            RemoteError::UnknownAgent { .. } => ErrorCode::UnknownAgent,
            _ => ErrorCode::Failed,
        };
        let body = EnvelopeBody::error(code, error.to_string());
        self.add(self.request.reply(body));
    }
}

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        if !self.complete {
            let body = EnvelopeBody::error(ErrorCode::Cancelled, "the agent stopped the work");
            self.add(self.request.reply(body));
        }
        self.client.state().answers.finish(&self.key);
    }
}

/// Runs the agent, and keeps the parts of its reply.
pub(crate) async fn answer(client: Arc<ClientCore>, key: Key, request: AgentEnvelope) {
    let mut finish = FinishOnDrop {
        client: Arc::clone(&client),
        key,
        request: request.clone(),
        complete: false,
    };
    match client.network.request(request).await {
        Err(error) => finish.fail(&error),
        Ok(mut reply) => {
            let mut ending = ReplyEnding::default();
            let mut over = false;
            while let Some(part) = reply.next().await {
                match part {
                    Ok(part) => {
                        over = ending.see(&part.body);
                        finish.add(part);
                    }
                    Err(error) => {
                        over = true;
                        finish.fail(&error);
                    }
                }
            }
            // The requester waits for the end.
            if !over {
                finish.fail(&RemoteError::NoReply);
            }
        }
    }
    finish.complete = true;
}

/// Runs the agent for a request without a reply.
pub(crate) async fn work_silently(client: Arc<ClientCore>, key: Key, request: AgentEnvelope) {
    let mut finish = FinishOnDrop {
        client: Arc::clone(&client),
        key,
        request: request.clone(),
        complete: true,
    };
    if let Ok(mut reply) = client.network.request(request).await {
        while let Some(Ok(_)) = reply.next().await {}
    }
    finish.complete = true;
}
