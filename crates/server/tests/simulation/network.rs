//! The network between clients and servers: requests, answers and streams are late, or lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode};
use futures_util::StreamExt;
use tokio::sync::{mpsc, oneshot};
use tower::ServiceExt;

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

/// The servers that take requests, by their number.
#[derive(Clone)]
pub(crate) struct Network {
    world: World,
    servers: Arc<Mutex<Vec<Option<Link>>>>,
}

impl Network {
    pub(crate) fn new(world: &World, servers: usize) -> Self {
        Self {
            world: world.clone(),
            servers: Arc::new(Mutex::new((0..servers).map(|_| None).collect())),
        }
    }

    fn servers(&self) -> MutexGuard<'_, Vec<Option<Link>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a server to requests.
    pub(crate) fn open(&self, server: usize) -> mpsc::UnboundedReceiver<Call> {
        let (calls, inbox) = mpsc::unbounded_channel();
        self.servers()[server] = Some(Link {
            calls,
            connections: Vec::new(),
        });
        inbox
    }

    /// Closes a server: its connections are cut, and requests to it are refused.
    pub(crate) fn close(&self, server: usize) {
        let link = self.servers()[server].take();
        drop(link);
    }

    /// Sends a request to one of the servers.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Reply, Lost> {
        let world = &self.world;
        let server = usize::try_from(world.below(self.servers().len() as u64)).unwrap_or_default();
        let is_lost = world.happens(25);
        tokio::time::sleep(world.up_to(20)).await;
        let link = self.servers()[server].as_mut().map(Link::connect);
        let (Some((calls, mut cut)), false) = (link, is_lost) else {
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
    let is_lost = world.happens(25);
    let Ok(response) = router.oneshot(request).await;
    tokio::time::sleep(world.up_to(20)).await;
    if is_lost {
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
                if world.happens(60) || parts.send(Some(bytes)).is_err() {
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
