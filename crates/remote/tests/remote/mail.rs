//! What the tests share: the assistant and the mail agent, and transports that record or fail.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use langgraph::prelude::*;
use langgraph_remote::{
    AgentEnvelope, AgentHandler, EnvelopeBody, LocalNetwork, RemoteError, RemoteExt, RemoteNode,
    ReplyStream, Transport, async_trait, serve,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(crate) enum MailRequest {
    Send { to: String, subject: String },
    List,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum MailResult {
    Sent(String),
    Inbox(Vec<String>),
}

// The assistant's state.

#[derive(State, Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Assistant {
    pub(crate) user_message: String,
    pub(crate) mail_request: Option<MailRequest>,
    pub(crate) mail_result: Option<MailResult>,
    pub(crate) summary: String,
    pub(crate) weather: String,
    pub(crate) reply_to_user: Option<String>,
}

pub(crate) fn update() -> AssistantUpdate {
    AssistantUpdate::default()
}

/// A message of the user.
pub(crate) fn says(text: impl Into<String>) -> AssistantUpdate {
    update().user_message(text.into())
}

// The assistant's nodes.

pub(crate) fn parse(state: &Assistant) -> AssistantUpdate {
    let mut words = state.user_message.split_whitespace();
    let request = match (words.next(), words.next()) {
        (Some("mail"), Some(to)) => Some(MailRequest::Send {
            to: to.to_owned(),
            subject: words.collect::<Vec<_>>().join(" "),
        }),
        (Some("inbox"), _) => Some(MailRequest::List),
        _ => None,
    };
    // Each turn of a thread begins without the result of the last one.
    update().mail_request(request).mail_result(None)
}

pub(crate) fn mail_request(state: &Assistant) -> Option<MailRequest> {
    state.mail_request.clone()
}

pub(crate) fn mail_result(result: MailResult) -> AssistantUpdate {
    update().mail_result(Some(result))
}

pub(crate) fn summarise(state: &Assistant) -> AssistantUpdate {
    let reply = match &state.mail_result {
        Some(MailResult::Sent(to)) => format!("sent to {to}"),
        Some(MailResult::Inbox(subjects)) => format!("{} mails", subjects.len()),
        None => format!("you said `{}`", state.user_message),
    };
    update().reply_to_user(Some(reply))
}

/// parse → the mail agent → summarise.
pub(crate) fn assistant() -> StateGraph<Assistant> {
    let mut graph = StateGraph::new();
    graph
        .add_node("parse", parse)
        .add_remote_node("mail_agent", "mail", mail_request, mail_result)
        .add_node("summarise", summarise)
        .add_sequence(&["parse", "mail_agent", "summarise"]);
    graph
}

/// A graph of the one node `ask`.
pub(crate) fn asking(node: RemoteNode) -> CompiledStateGraph<Assistant> {
    let mut graph = StateGraph::new();
    graph
        .add_node("ask", node.bind(question, answer))
        .add_sequence(&["ask"]);
    graph.compile().unwrap()
}

#[allow(clippy::unnecessary_wraps)] // what a binding takes
pub(crate) fn question(state: &Assistant) -> Option<String> {
    Some(state.user_message.clone())
}

pub(crate) fn answer(summary: String) -> AssistantUpdate {
    update().summary(summary)
}

// The mail agent: request → mailbox → result, a graph of its own.

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Mailbox {
    request: Option<MailRequest>,
    result: Option<MailResult>,
}

pub(crate) fn mail_agent() -> impl AgentHandler + Clone {
    let mut graph = StateGraph::<Plain<Mailbox>>::new();
    graph.add_node("process", |mailbox: Plain<Mailbox>| {
        let result = mailbox.request.clone().map(|request| match request {
            MailRequest::Send { to, .. } => MailResult::Sent(to),
            MailRequest::List => MailResult::Inbox(vec!["lunch".to_owned(), "rent".to_owned()]),
        });
        Plain(Mailbox {
            result,
            ..mailbox.0
        })
    });
    graph.add_sequence(&["process"]);
    serve(
        graph.compile().unwrap(),
        |request: MailRequest| {
            Plain(Mailbox {
                request: Some(request),
                result: None,
            })
        },
        |mailbox| mailbox.0.result,
    )
}

pub(crate) fn local(id: &str, agent: impl AgentHandler) -> LocalNetwork {
    let network = LocalNetwork::new();
    network.register(id, agent);
    network
}

pub(crate) fn shared(network: impl Transport) -> Arc<dyn Transport> {
    Arc::new(network)
}

/// Shows everything that goes through a transport.
#[derive(Clone)]
pub(crate) struct Tap<T> {
    inner: Arc<T>,
    seen: Arc<Mutex<Vec<AgentEnvelope>>>,
}

impl<T: Transport> Tap<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self {
            inner: Arc::new(inner),
            seen: Arc::default(),
        }
    }

    pub(crate) fn seen(&self) -> Vec<AgentEnvelope> {
        self.seen.lock().unwrap().clone()
    }
}

#[async_trait]
impl<T: Transport> Transport for Tap<T> {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        self.seen.lock().unwrap().push(request.clone());
        let mut reply = self.inner.request(request.clone()).await?;
        let seen = Arc::clone(&self.seen);
        Ok(ReplyStream::produce(&request, |replies| async move {
            while let Some(part) = reply.next().await {
                let part = part?;
                seen.lock().unwrap().push(part.clone());
                replies.send(part.body).await;
            }
            Ok(())
        }))
    }
}

/// Counts when it is dropped.
pub(crate) struct Guard(pub(crate) Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// An agent that never answers, and how many of its attempts were dropped.
pub(crate) fn silent() -> (impl AgentHandler, Arc<AtomicUsize>) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let agent = move |_: AgentEnvelope| {
        let guard = Guard(Arc::clone(&count));
        async move {
            let _guard = guard;
            pending::<EnvelopeBody>().await
        }
    };
    (agent, dropped)
}

pub(crate) fn remote_error(error: &AgentError) -> &RemoteError {
    let AgentError::Remote { node, agent, .. } = error else {
        panic!("expected a remote error, found {error:?}");
    };
    let text = error.to_string();
    assert!(text.contains(&format!("`{node}`")), "{text}");
    assert!(text.contains(&format!("agent `{agent}`")), "{text}");
    error.node_error().unwrap().downcast_ref().unwrap()
}
