//! One request to an agent, and its reply.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use a2a::{
    A2AError, CancelTaskRequest, GetTaskRequest, SVC_PARAM_EXTENSIONS, SVC_PARAM_VERSION,
    SendMessageRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest, VERSION,
};
use a2a_client::ServiceParams;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use langgraph_remote::{AgentEnvelope, EnvelopeBody, RemoteError};
use tokio::sync::{mpsc, watch};

use crate::failure::{Broken, broken, failed};
use crate::link::Link;
use crate::reading::Reading;
use crate::request::{conversation, message, metadata};
use crate::wire;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How many times a broken connection is replaced before any answer has come.
const ATTEMPTS: usize = 6;

type Out = mpsc::Sender<Result<AgentEnvelope, RemoteError>>;

/// One request and its reply.
pub(crate) struct Exchange {
    link: Arc<Link>,
    request: AgentEnvelope,
    send: SendMessageRequest,
    params: ServiceParams,
    reading: Reading,
    /// The task, as soon as it is known.
    known: watch::Sender<Option<String>>,
}

impl Exchange {
    pub(crate) fn new(link: Arc<Link>, request: AgentEnvelope) -> Result<Self, RemoteError> {
        let mut message = message(&request, link.ours)?;
        message.metadata = metadata(&request, link.ours);
        let mut params = ServiceParams::new();
        let mut header = |name: &str, value: &str| {
            params.insert(name.to_owned(), vec![value.to_owned()]);
        };
        header(SVC_PARAM_VERSION, VERSION);
        if link.ours {
            header(SVC_PARAM_EXTENSIONS, wire::EXTENSION);
            message.extensions = Some(vec![wire::EXTENSION.to_owned()]);
        }
        if let Some(token) = &link.token {
            header("Authorization", &format!("Bearer {token}"));
        }
        if let Some(trace) = &request.trace {
            header("traceparent", &trace.traceparent);
            if let Some(state) = &trace.tracestate {
                header("tracestate", state);
            }
        }
        Ok(Self {
            reading: Reading::new(link.ours),
            known: watch::Sender::new(None),
            send: SendMessageRequest {
                message,
                configuration: None,
                metadata: None,
                tenant: link.tenant.clone(),
            },
            params,
            request,
            link,
        })
    }

    pub(crate) async fn run(mut self, out: Out) {
        let link = Arc::clone(&self.link);
        let params = self.params.clone();
        let mut known = self.known.subscribe();
        {
            let mut read = pin!(self.read(&out));
            tokio::select! {
                ended = &mut read => {
                    if let Err(error) = ended {
                        let _ = out.send(Err(error)).await;
                    }
                    return;
                }
                () = out.closed() => {}
            }
            // The message may have arrived: wait for the task that it began.
            tokio::select! {
                _ = &mut read => return,
                _ = known.wait_for(Option::is_some) => {}
                () = tokio::time::sleep(LONGEST_PAUSE) => {}
            }
        }
        let Some(id) = known.borrow().clone() else {
            return;
        };
        let cancel = CancelTaskRequest {
            id,
            metadata: None,
            tenant: link.tenant.clone(),
        };
        let _ = link.binding.cancel_task(&params, &cancel).await;
    }

    /// Reads until the reply is complete, over as many connections as that takes.
    async fn read(&mut self, out: &Out) -> Result<(), RemoteError> {
        let mut pause = FIRST_PAUSE;
        let mut attempts = 0;
        loop {
            let before = self.reading.task.is_some();
            let interrupted = match self.events().await {
                Ok(events) => self.forward(events, out).await,
                Err(error) => Some(broken(error)),
            };
            if self.reading.over {
                return Ok(());
            }
            // A task that cannot be followed again may have ended meanwhile.
            let interrupted = match (interrupted, self.reading.task.clone()) {
                (Some(Broken::Refused(_)) | None, Some(task)) if before => {
                    match self.get(&task).await {
                        Ok(event) => {
                            self.forward(stream::iter([Ok(event)]).boxed(), out).await;
                            if self.reading.over {
                                return Ok(());
                            }
                            None
                        }
                        Err(error) => Some(broken(error)),
                    }
                }
                (interrupted, _) => interrupted,
            };
            match interrupted {
                Some(Broken::Refused(error)) => return Err(failed(error)),
                // The first message may have arrived. Only agents with this crate recognise a repeated one.
                Some(Broken::Connection(error))
                    if self.reading.task.is_none() && !self.link.ours =>
                {
                    return Err(failed(error));
                }
                Some(Broken::Connection(error)) if attempts >= ATTEMPTS => {
                    return Err(failed(error));
                }
                _ => {}
            }
            attempts = if before {
                attempts + 1
            } else {
                attempts.max(1)
            };
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Opens the events of the task: sends the message, or follows the task again.
    async fn events(
        &self,
    ) -> Result<BoxStream<'static, Result<StreamResponse, A2AError>>, A2AError> {
        let binding = &self.link.binding;
        match &self.reading.task {
            Some(task) if self.link.streaming => {
                let subscribe = SubscribeToTaskRequest {
                    id: task.clone(),
                    tenant: self.link.tenant.clone(),
                };
                binding.subscribe_to_task(&self.params, &subscribe).await
            }
            Some(task) => {
                let event = self.get(task).await?;
                Ok(stream::iter([Ok(event)]).boxed())
            }
            None if self.link.streaming => {
                binding
                    .send_streaming_message(&self.params, &self.send)
                    .await
            }
            None => {
                let event = match binding.send_message(&self.params, &self.send).await? {
                    SendMessageResponse::Task(task) => StreamResponse::Task(task),
                    SendMessageResponse::Message(message) => StreamResponse::Message(message),
                };
                Ok(stream::iter([Ok(event)]).boxed())
            }
        }
    }

    async fn get(&self, task: &str) -> Result<StreamResponse, A2AError> {
        let get = GetTaskRequest {
            id: task.to_owned(),
            history_length: Some(0),
            tenant: self.link.tenant.clone(),
        };
        let task = self.link.binding.get_task(&self.params, &get).await?;
        Ok(StreamResponse::Task(task))
    }

    /// Passes the events on, until they end.
    async fn forward(
        &mut self,
        mut events: BoxStream<'static, Result<StreamResponse, A2AError>>,
        out: &Out,
    ) -> Option<Broken> {
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => return Some(broken(error)),
            };
            let bodies = self.reading.take(event);
            self.known.send_if_modified(|known| {
                let new = known.is_none() && self.reading.task.is_some();
                known.clone_from(&self.reading.task);
                new
            });
            for body in bodies {
                let is_interrupt = matches!(body, EnvelopeBody::Interrupt(_));
                let mut envelope = self.request.reply(body);
                envelope.spent = self.reading.spent;
                if let (true, Some(task), Some(context)) =
                    (is_interrupt, &self.reading.task, &self.reading.context)
                {
                    envelope.conversation = Some(conversation(context, task));
                }
                // Without a reader, the request is about to be cancelled.
                if out.send(Ok(envelope)).await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
            if self.reading.over {
                break;
            }
        }
        None
    }
}
