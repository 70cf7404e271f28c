//! Byte streams: what is written is late, and connections are cut.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Bytes;
use langgraph_relay::{Accepted, Dial, Listen, Wire};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio::time::Sleep;

use super::passage::{Passage, is_cut};
use crate::world::World;

/// How much later lost bytes arrive, which are sent again.
const SENT_AGAIN: Duration = Duration::from_millis(200);

/// How long a host that cannot be reached is dialled.
const DIALS: Duration = Duration::from_secs(1);

/// The streams between hosts.
#[derive(Clone)]
pub(crate) struct Streams {
    world: World,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    ports: BTreeMap<String, mpsc::UnboundedSender<End>>,
    /// The connections, in the order in which they are cut.
    lines: Vec<Line>,
    /// Until when hosts are parted from the others.
    parted: BTreeMap<String, Duration>,
}

/// A connection. Clones are the same one.
#[derive(Clone)]
struct Line(Arc<Mutex<Ways>>, [Arc<str>; 2]);

#[derive(Default)]
struct Ways {
    is_cut: bool,
    /// From the first end to the second one, and back.
    ways: [Way; 2],
}

#[derive(Default)]
struct Way {
    /// What is on its way, and when it arrives.
    bytes: VecDeque<(Duration, Bytes)>,
    last: Duration,
    reader: Option<Waker>,
    is_ended: bool,
}

/// An end of a connection.
pub(crate) struct End {
    streams: Streams,
    line: Line,
    side: usize,
    /// Until the first bytes arrive.
    arrival: Option<Pin<Box<Sleep>>>,
}

impl Streams {
    pub(super) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            state: Arc::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a host to connections.
    pub(crate) fn listen(&self, host: &str) -> impl Listen + use<> {
        let (port, accepted) = mpsc::unbounded_channel();
        self.state().ports.insert(host.to_owned(), port);
        Port(accepted)
    }

    pub(super) fn close(&self, host: &str) {
        let mut state = self.state();
        state.ports.remove(host);
        state.parted.remove(host);
        state.lines.retain(|line| {
            let is_of = line.1.iter().any(|end| **end == *host);
            if is_of {
                line.cut();
            }
            !is_of && Arc::strong_count(&line.0) > 1
        });
    }

    pub(super) fn part(&self, host: &str, until: Duration) {
        self.state().parted.insert(host.to_owned(), until);
    }

    /// Returns the time from which on something passes between two hosts.
    fn opens(&self, hosts: [&str; 2]) -> Duration {
        let state = self.state();
        let until = hosts.iter().filter_map(|host| state.parted.get(*host));
        until.max().copied().unwrap_or_default()
    }

    fn connect(&self, from: &str, to: &str) -> io::Result<End> {
        let line = Line(Arc::default(), [from.into(), to.into()]);
        let end = |side| End {
            streams: self.clone(),
            line: line.clone(),
            side,
            arrival: None,
        };
        let mut state = self.state();
        let port = state.ports.get(to);
        let port = port.ok_or(io::ErrorKind::ConnectionRefused)?;
        let accepted = port.send(end(1));
        accepted.map_err(|_| io::ErrorKind::ConnectionRefused)?;
        state.lines.push(line.clone());
        Ok(end(0))
    }
}

impl Line {
    fn lock(&self) -> MutexGuard<'_, Ways> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cut(&self) {
        let mut ways = self.lock();
        ways.is_cut = true;
        for way in &mut ways.ways {
            way.bytes.clear();
            way.wake();
        }
    }
}

impl Way {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl AsyncRead for End {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let line = self.line.clone();
        loop {
            let now = self.streams.world.elapsed();
            let mut ways = line.lock();
            if ways.is_cut {
                return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
            }
            let way = &mut ways.ways[1 - self.side];
            let Some((at, bytes)) = way.bytes.front_mut() else {
                if way.is_ended {
                    return Poll::Ready(Ok(()));
                }
                way.reader = Some(cx.waker().clone());
                return Poll::Pending;
            };
            if *at <= now {
                let some = bytes.split_to(bytes.len().min(buffer.remaining()));
                buffer.put_slice(&some);
                if bytes.is_empty() {
                    way.bytes.pop_front();
                }
                return Poll::Ready(Ok(()));
            }
            let left = at.saturating_sub(now);
            way.reader = Some(cx.waker().clone());
            let arrival = self
                .arrival
                .get_or_insert_with(|| Box::pin(tokio::time::sleep(left)));
            std::task::ready!(arrival.as_mut().poll(cx));
            self.arrival = None;
        }
    }
}

impl AsyncWrite for End {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let world = &self.streams.world;
        let [from, to] = &self.line.1;
        let opens = self.streams.opens([from, to]);
        let passage = Passage::draw(world);
        if is_cut(world) {
            self.line.cut();
        }
        let again = if passage.is_lost {
            SENT_AGAIN
        } else {
            Duration::ZERO
        };
        let at = world.elapsed().max(opens) + passage.late + again;
        let mut ways = self.line.lock();
        if ways.is_cut || ways.ways[1 - self.side].is_ended {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let way = &mut ways.ways[self.side];
        way.last = way.last.max(at);
        let at = way.last;
        way.bytes.push_back((at, Bytes::copy_from_slice(buffer)));
        way.wake();
        Poll::Ready(Ok(buffer.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}

impl End {
    fn end(&self) {
        let mut ways = self.line.lock();
        let way = &mut ways.ways[self.side];
        way.is_ended = true;
        way.wake();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.end();
    }
}

/// Where a host takes connections.
struct Port(mpsc::UnboundedReceiver<End>);

#[async_trait]
impl Listen for Port {
    async fn accept(&mut self) -> io::Result<Accepted> {
        let end = self.0.recv().await.ok_or(io::ErrorKind::NotConnected)?;
        Ok(Box::pin(async { Ok(Box::new(end) as Box<dyn Wire>) }))
    }
}

/// How a host reaches others.
pub(crate) struct Dialer {
    pub(crate) streams: Streams,
    pub(crate) host: String,
}

#[async_trait]
impl Dial for Dialer {
    async fn dial(&self, host: &str, _: u16) -> io::Result<Box<dyn Wire>> {
        let world = &self.streams.world;
        let passage = Passage::draw(world);
        tokio::time::sleep(passage.late).await;
        if passage.is_lost || self.streams.opens([&self.host, host]) > world.elapsed() {
            tokio::time::sleep(DIALS).await;
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(Box::new(self.streams.connect(&self.host, host)?))
    }
}
