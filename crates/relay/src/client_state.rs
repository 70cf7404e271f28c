//! What an agent's connection and the task that keeps it share.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph_remote::{AgentId, Correlator, Frame, LocalNetwork, RequestId};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use crate::answers::{Answers, Key};
use crate::builder::RelayClientBuilder;
use crate::error::RelayError;
use crate::pieces::Joining;
use crate::protocol::AgentRecord;

/// The cancellations and lists that wait to be written.
const NOTES: usize = 1_024;

/// How the connection stands.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    Connecting(String),
    Connected,
    Over(RelayError),
}

pub(crate) struct Client {
    pub(crate) options: RelayClientBuilder,
    /// The agent that answers, under its own name.
    pub(crate) network: LocalNetwork,
    pub(crate) table: Correlator,
    pub(crate) state: Mutex<State>,
    pub(crate) wake: Notify,
    pub(crate) closing: Notify,
    /// Names this client, and counts its connections.
    pub(crate) session: String,
    pub(crate) connections: AtomicU64,
    pub(crate) link: watch::Sender<Link>,
}

#[derive(Default)]
pub(crate) struct State {
    /// The requests without a complete reply.
    pub(crate) open: BTreeMap<RequestId, Open>,
    pub(crate) answers: Answers,
    /// Requests that come in pieces, by their requesters and ids; the oldest first.
    pub(crate) joining: VecDeque<(Key, Option<Joining>)>,
    pub(crate) notes: VecDeque<String>,
    pub(crate) lists: HashMap<RequestId, oneshot::Sender<Vec<AgentRecord>>>,
}

/// A request that is repeated until its reply is complete.
pub(crate) struct Open {
    /// More than one if it travels in pieces.
    pub(crate) frames: Vec<Frame>,
    /// Who answers it.
    pub(crate) agent: AgentId,
    /// A reply that comes in pieces.
    pub(crate) joining: Option<Joining>,
    /// The number of the next part of its reply.
    pub(crate) next: u64,
    /// The run of the parts that are there: those of another are not taken.
    pub(crate) run: Option<String>,
    pub(crate) due: Instant,
    pub(crate) pause: Duration,
    pub(crate) sent: usize,
}

impl Client {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
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
