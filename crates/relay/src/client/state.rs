//! The state of an agent's connection.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

use langgraph_remote::{AgentId, Correlator, Frame, LocalNetwork, RequestId};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use super::answers::{Answers, Key};
use super::backoff::Backoff;
use super::builder::RelayClientBuilder;
use super::pieces::PieceAssembler;
use crate::error::RelayError;
use crate::protocol::AgentRecord;

/// How many cancellations, refusals and lists are queued.
const NOTES: usize = 1_024;

/// The status of the connection.
#[derive(Clone, Debug)]
pub(crate) enum LinkStatus {
    Connecting(String),
    Connected,
    Over(RelayError),
}

/// What the clones of a client and its tasks share.
pub(crate) struct ClientCore {
    pub(crate) options: RelayClientBuilder,
    /// The agent that answers, under its own name.
    pub(crate) network: LocalNetwork,
    pub(crate) table: Correlator,
    pub(crate) state: Mutex<ClientState>,
    pub(crate) wake: Notify,
    pub(crate) closing: Notify,
    /// Names this client, and counts its connections.
    pub(crate) session: String,
    pub(crate) connections: AtomicU64,
    pub(crate) link: watch::Sender<LinkStatus>,
}

/// Some agents, and the id after which more follow.
pub(crate) type AgentPage = (Vec<AgentRecord>, Option<AgentId>);

#[derive(Default)]
pub(crate) struct ClientState {
    /// The requests without a complete reply.
    pub(crate) open: BTreeMap<RequestId, OpenRequest>,
    pub(crate) answers: Answers,
    /// Incomplete requests in pieces, by their requesters and ids; the oldest first.
    pub(crate) incomplete: VecDeque<(Key, Option<PieceAssembler>)>,
    pub(crate) notes: VecDeque<String>,
    pub(crate) lists: HashMap<RequestId, oneshot::Sender<AgentPage>>,
}

/// A request that is repeated until its reply is complete.
pub(crate) struct OpenRequest {
    /// More than one if it is sent in pieces.
    pub(crate) frames: Vec<Frame>,
    /// The agent that answers it.
    pub(crate) agent: AgentId,
    /// The pieces of its reply.
    pub(crate) pieces: Option<PieceAssembler>,
    /// The number of the next part of its reply.
    pub(crate) next: u64,
    /// The run of the parts so far: those of another run are dropped.
    pub(crate) run: Option<String>,
    pub(crate) due: Instant,
    pub(crate) backoff: Backoff,
    pub(crate) sent: usize,
}

impl ClientCore {
    pub(crate) fn state(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, text: String) {
        let mut state = self.state();
        if state.notes.len() < NOTES {
            state.notes.push_back(text);
        }
        drop(state);
        self.wake.notify_one();
    }
}
