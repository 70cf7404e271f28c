//! What a server says on its own while its tools run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientConfig, ElicitRequestParams, ElicitResult, ErrorData, ProgressNotificationParam,
    ProgressToken,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::{mpsc, oneshot};

/// What a call hears of its server.
pub(crate) enum Heard {
    Progress(ProgressNotificationParam),
    /// A question to a person, by a server of a protocol version before 2026-07-28.
    Asked(ElicitRequestParams, oneshot::Sender<ElicitResult>),
}

type Senders = HashMap<ProgressToken, mpsc::UnboundedSender<Heard>>;

/// The calls that are under way at a server.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Senders>>);

impl Calls {
    fn senders(&self) -> MutexGuard<'_, Senders> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears for a call until the return value is dropped.
    pub(crate) fn hear(&self, token: ProgressToken) -> Hearing {
        let (sender, heard) = mpsc::unbounded_channel();
        self.senders().insert(token.clone(), sender);
        Hearing {
            heard,
            token,
            calls: self.clone(),
        }
    }

    /// Returns the only call that is under way. A server does not say for which call it asks.
    fn only(&self) -> Option<mpsc::UnboundedSender<Heard>> {
        let senders = self.senders();
        let mut all = senders.values();
        match (all.next(), all.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => None,
        }
    }
}

/// One call that hears its server.
pub(crate) struct Hearing {
    heard: mpsc::UnboundedReceiver<Heard>,
    token: ProgressToken,
    calls: Calls,
}

impl Hearing {
    pub(crate) async fn next(&mut self) -> Heard {
        match self.heard.recv().await {
            Some(heard) => heard,
            // The sender is in the table, until `self` is dropped.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.calls.senders().remove(&self.token);
    }
}

/// The client of the protocol.
pub(crate) struct Handler {
    pub(crate) config: ClientConfig,
    pub(crate) calls: Calls,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let call = self.calls.senders().get(&progress.progress_token).cloned();
        if let Some(call) = call {
            let _ = call.send(Heard::Progress(progress)); // the call has just ended
        }
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let refused = |why: &str| ErrorData::invalid_request(why.to_owned(), None);
        let Some(call) = self.calls.only() else {
            return Err(refused(
                "several calls are under way, or none: it is unknown who has to answer",
            ));
        };
        let (reply, answer) = oneshot::channel();
        let _ = call.send(Heard::Asked(request, reply)); // then `answer` fails
        answer
            .await
            .map_err(|_| refused("the call waits for a person, and is made again"))
    }
}
