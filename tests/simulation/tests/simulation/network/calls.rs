//! Requests of clients to servers: they, their answers and the streams of these are late, or lost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode};
use futures_util::StreamExt;
use tokio::sync::{mpsc, oneshot};
use tower::ServiceExt;

use super::passage::{Passage, is_cut};
use crate::server::server_name;
use crate::world::World;

/// How long a client waits for the beginning of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request on its way, and the way back.
pub(crate) struct Call {
    request: Request<Body>,
    reply: oneshot::Sender<Answer>,
}

/// What comes back.
struct Answer {
    status: StatusCode,
    /// Its parts; `None` is the end. Without one, the connection was lost.
    body: mpsc::UnboundedReceiver<Option<Bytes>>,
}

/// An answer, as it arrives.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    body: mpsc::UnboundedReceiver<Option<Bytes>>,
    cut: Cut,
}

impl Reply {
    /// Returns the next part; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Lost> {
        tokio::select! {
            biased;
            part = self.body.recv() => part.ok_or(Lost),
            _ = &mut self.cut => Err(Lost),
        }
    }
}

/// Ends when its connection is cut.
type Cut = oneshot::Receiver<()>;

/// A server that takes requests.
struct Link {
    calls: mpsc::UnboundedSender<Call>,
    /// Its connections, in their order, which is the order in which they are cut: the tasks of a process that
    /// ends are dropped in no order.
    connections: Vec<oneshot::Sender<()>>,
}

impl Link {
    fn connect(&mut self) -> (mpsc::UnboundedSender<Call>, Cut) {
        let (connection, cut) = oneshot::channel();
        self.connections
            .retain(|connection| !connection.is_closed());
        self.connections.push(connection);
        (self.calls.clone(), cut)
    }
}

/// The connection is lost: nobody knows what became of the request.
#[derive(Debug)]
pub(crate) struct Lost;

/// The servers that take requests, by their names.
#[derive(Clone)]
pub(crate) struct Calls {
    world: World,
    servers: usize,
    links: Arc<Mutex<BTreeMap<String, Link>>>,
}

impl Calls {
    pub(super) fn new(world: &World, servers: usize) -> Self {
        Self {
            world: world.clone(),
            servers,
            links: Arc::default(),
        }
    }

    fn links(&self) -> MutexGuard<'_, BTreeMap<String, Link>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a server to requests.
    pub(crate) fn open(&self, server: &str) -> mpsc::UnboundedReceiver<Call> {
        let (calls, inbox) = mpsc::unbounded_channel();
        let link = Link {
            calls,
            connections: Vec::new(),
        };
        self.links().insert(server.to_owned(), link);
        inbox
    }

    pub(super) fn close(&self, server: &str) {
        let link = self.links().remove(server);
        drop(link);
    }

    /// Sends a request to one of the servers.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Reply, Lost> {
        let world = &self.world;
        let server = usize::try_from(world.below(self.servers as u64)).unwrap_or_default();
        let passage = Passage::draw(world);
        tokio::time::sleep(passage.late).await;
        let link = self
            .links()
            .get_mut(&server_name(server))
            .map(Link::connect);
        let (Some((calls, mut cut)), false) = (link, passage.is_lost) else {
            return Err(Lost);
        };
        let (reply, answer) = oneshot::channel();
        calls.send(Call { request, reply }).map_err(|_| Lost)?;
        drop(calls);
        let Answer { status, body } = tokio::select! {
            biased;
            answer = answer => answer.map_err(|_| Lost)?,
            _ = &mut cut => return Err(Lost),
            () = tokio::time::sleep(PATIENCE) => return Err(Lost),
        };
        Ok(Reply { status, body, cut })
    }
}

/// Answers a request, on its server.
pub(crate) async fn answer(world: World, router: Router, call: Call) {
    let Call { request, reply } = call;
    let passage = Passage::draw(&world);
    let Ok(response) = router.oneshot(request).await;
    tokio::time::sleep(passage.late).await;
    if passage.is_lost {
        return;
    }
    let (parts, body) = mpsc::unbounded_channel();
    let status = response.status();
    if reply.send(Answer { status, body }).is_err() {
        return;
    }
    let mut stream = response.into_body().into_data_stream();
    loop {
        let next = tokio::select! {
            biased;
            () = parts.closed() => return,
            next = stream.next() => next,
        };
        match next {
            Some(Ok(bytes)) => {
                if is_cut(&world) || parts.send(Some(bytes)).is_err() {
                    return;
                }
            }
            Some(Err(_)) => return,
            None => {
                let _ = parts.send(None);
                return;
            }
        }
    }
}
