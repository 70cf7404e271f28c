//! The calls in flight at a server, and what the server sends during them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientConfig, ElicitRequestParams, ElicitResult, ErrorData, ProgressNotificationParam,
    ProgressToken,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, mpsc, oneshot, watch};

/// What a server sends during a call.
pub(crate) enum CallEvent {
    Progress(ProgressNotificationParam),
    /// A question to a person, by a server of a protocol version before 2026-07-28.
    Elicitation(ElicitRequestParams, oneshot::Sender<ElicitResult>),
    /// The server waits for answers to several calls, and it is unknown which question belongs to which:
    /// the call is to be made again, alone.
    Repeat,
}

#[derive(Default)]
struct InFlight {
    calls: HashMap<ProgressToken, mpsc::UnboundedSender<CallEvent>>,
    /// Questions whose call is not known yet.
    elicitations: usize,
}

/// The calls in flight at a server.
///
/// A server of a protocol version before 2026-07-28 asks without saying for which call. Once one has asked
/// during several calls, each further call is made alone, so that its questions belong to it.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<CallTable>);

#[derive(Default)]
struct CallTable {
    in_flight: Mutex<InFlight>,
    /// Counts the changes of `in_flight`.
    changes: watch::Sender<usize>,
    is_one_by_one: AtomicBool,
    turns: Arc<RwLock<()>>,
}

/// The right to make a call.
pub(crate) enum Turn {
    Shared { _guard: OwnedRwLockReadGuard<()> },
    Alone { _guard: OwnedRwLockWriteGuard<()> },
}

/// The call that a question belongs to.
enum Asker {
    Call(mpsc::UnboundedSender<CallEvent>),
    /// Other calls may still end.
    Unknown,
    /// All calls in flight ask.
    All(Vec<mpsc::UnboundedSender<CallEvent>>),
}

impl Calls {
    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        let in_flight = self.0.in_flight.lock();
        in_flight.unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.0.changes.send_modify(|changes| *changes += 1);
    }

    /// Waits until a call may be made: at once, or when all others have ended.
    pub(crate) async fn turn(&self) -> Turn {
        let turns = &self.0.turns;
        loop {
            if self.0.is_one_by_one.load(Ordering::SeqCst) {
                let guard = Arc::clone(turns).write_owned().await;
                return Turn::Alone { _guard: guard };
            }
            let guard = Arc::clone(turns).read_owned().await;
            if !self.0.is_one_by_one.load(Ordering::SeqCst) {
                return Turn::Shared { _guard: guard };
            }
        }
    }

    /// Registers a call until the return value is dropped.
    pub(crate) fn register(&self, token: ProgressToken) -> CallEvents {
        let (sender, events) = mpsc::unbounded_channel();
        self.in_flight().calls.insert(token.clone(), sender);
        self.changed();
        CallEvents {
            events,
            token,
            calls: self.clone(),
        }
    }

    /// Returns the call that a question belongs to. While several are in flight, that is known only when the
    /// others have ended.
    async fn asker(&self) -> Option<mpsc::UnboundedSender<CallEvent>> {
        let mut changes = self.0.changes.subscribe();
        let _counted = Elicitation::new(self);
        loop {
            changes.borrow_and_update();
            match self.asker_now() {
                Asker::Call(call) => return Some(call),
                Asker::All(calls) => {
                    for call in calls {
                        let _ = call.send(CallEvent::Repeat); // the call has just ended
                    }
                    return None;
                }
                Asker::Unknown => {}
            }
            changes.changed().await.ok()?;
        }
    }

    fn asker_now(&self) -> Asker {
        let in_flight = self.in_flight();
        let mut calls = in_flight.calls.values();
        match (calls.next(), calls.next()) {
            (Some(only), None) => return Asker::Call(only.clone()),
            (Some(_), Some(_)) => self.0.is_one_by_one.store(true, Ordering::SeqCst),
            (None, _) => {}
        }
        if in_flight.elicitations < in_flight.calls.len() {
            return Asker::Unknown;
        }
        Asker::All(in_flight.calls.values().cloned().collect())
    }
}

/// Counts a question until its call is known.
struct Elicitation<'a>(&'a Calls);

impl<'a> Elicitation<'a> {
    fn new(calls: &'a Calls) -> Self {
        calls.in_flight().elicitations += 1;
        calls.changed();
        Self(calls)
    }
}

impl Drop for Elicitation<'_> {
    fn drop(&mut self) {
        self.0.in_flight().elicitations -= 1;
        self.0.changed();
    }
}

/// What the server sends during one call.
pub(crate) struct CallEvents {
    events: mpsc::UnboundedReceiver<CallEvent>,
    token: ProgressToken,
    calls: Calls,
}

impl CallEvents {
    pub(crate) async fn next(&mut self) -> CallEvent {
        match self.events.recv().await {
            Some(event) => event,
            // The sender is in the table, until `self` is dropped.
            None => std::future::pending().await,
        }
    }
}

impl Drop for CallEvents {
    fn drop(&mut self) {
        self.calls.in_flight().calls.remove(&self.token);
        self.calls.changed();
    }
}

/// The client of the protocol.
pub(crate) struct ClientService {
    pub(crate) config: ClientConfig,
    pub(crate) calls: Calls,
}

impl ClientHandler for ClientService {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let token = &progress.progress_token;
        let call = self.calls.in_flight().calls.get(token).cloned();
        if let Some(call) = call {
            let _ = call.send(CallEvent::Progress(progress)); // the call has just ended
        }
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let refused = |why: &str| ErrorData::invalid_request(why.to_owned(), None);
        let Some(call) = self.calls.asker().await else {
            return Err(refused("several calls ask; each is made again, alone"));
        };
        let (reply, answer) = oneshot::channel();
        let _ = call.send(CallEvent::Elicitation(request, reply)); // then `answer` fails
        answer
            .await
            .map_err(|_| refused("the call waits for a person, and is made again"))
    }
}
