//! The agents of a relay.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use langgraph_remote::AgentId;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::options::RelayOptions;
use crate::protocol::{AgentRecord, Control, Session};
use crate::queue::{Queue, Room};

/// The number of other agents that an agent hears of when they leave.
const CONTACTS: usize = 256;
/// The longest id of an agent.
const ID_BYTES: usize = 256;

#[derive(Debug)]
pub(crate) struct Registry {
    room: Room,
    agents: HashMap<AgentId, Agent>,
}

#[derive(Debug)]
struct Agent {
    name: Option<String>,
    token: Option<String>,
    session: Option<Session>,
    queue: Arc<Queue>,
    /// The connection that it uses, and how to close that.
    connection: Option<(u64, Arc<Notify>)>,
    left: Instant,
    contacts: VecDeque<AgentId>,
}

/// What a registered connection works with.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) queue: Arc<Queue>,
    pub(crate) replaced: Arc<Notify>,
}

impl Registry {
    pub(crate) fn new(options: &RelayOptions) -> Self {
        Self {
            room: Room::new(options.queued),
            agents: HashMap::new(),
        }
    }

    /// Registers an agent, or says why not: a code and a sentence.
    pub(crate) fn register(
        &mut self,
        connection: u64,
        (id, name, token): (&AgentId, Option<String>, Option<String>),
        session: Option<Session>,
        options: &RelayOptions,
    ) -> Result<Seat, (&'static str, String)> {
        if id.as_str().is_empty() || id.as_str().len() > ID_BYTES {
            let message = format!("an id has 1 to {ID_BYTES} bytes");
            return Err(("bad_request", message));
        }
        if let Some(tokens) = &options.tokens {
            let expected = tokens.get(id).map(String::as_str);
            if !same(expected, token.as_deref()) || expected.is_none() {
                let message = format!("`{id}` needs its own token");
                return Err(("unauthorized", message));
            }
        }
        let replaced = Arc::new(Notify::new());
        if let Some(agent) = self.agents.get_mut(id) {
            // Whoever has the token has the id. An id without a token is free when its owner left.
            let owner = token.is_some() && same(agent.token.as_deref(), token.as_deref());
            if !owner && (agent.token.is_some() || agent.connection.is_some()) {
                return Err(("agent_exists", format!("`{id}` is registered already")));
            }
            if let (Some(known), Some(given)) = (&agent.session, &session)
                && known.client == given.client
                && known.connection > given.connection
            {
                let message = format!("`{id}` has a newer connection");
                return Err(("stale", message));
            }
            agent.session = session;
            if let Some((_, old)) = agent.connection.take() {
                old.notify_one();
            }
            agent.connection = Some((connection, Arc::clone(&replaced)));
            agent.name = name;
            let queue = Arc::clone(&agent.queue);
            self.tell_contacts(id, true);
            return Ok(Seat { queue, replaced });
        }
        if self.agents.len() >= options.max_agents && !self.forget_oldest() {
            return Err(("overloaded", "the relay is full".to_owned()));
        }
        let room = self.room.clone();
        let queue = Queue::new(options.queue_frames, options.queue_bytes, room);
        let queue = Arc::new(queue);
        let agent = Agent {
            name,
            token,
            session,
            queue: Arc::clone(&queue),
            connection: Some((connection, Arc::clone(&replaced))),
            left: Instant::now(),
            contacts: VecDeque::new(),
        };
        self.agents.insert(id.clone(), agent);
        Ok(Seat { queue, replaced })
    }

    /// The connection ended. If its client said goodbye, the agent is gone at once.
    pub(crate) fn left(&mut self, connection: u64, id: &AgentId, goodbye: bool) {
        let Some(agent) = self.agents.get_mut(id) else {
            return;
        };
        if agent.connection.as_ref().map(|(number, _)| *number) != Some(connection) {
            return;
        }
        agent.connection = None;
        agent.left = Instant::now();
        if goodbye {
            self.remove(id);
        }
    }

    /// Forgets the agents that left before the grace began.
    pub(crate) fn sweep(&mut self, options: &RelayOptions) {
        let gone: Vec<AgentId> = self
            .agents
            .iter()
            .filter(|(_, agent)| agent.connection.is_none() && agent.left.elapsed() > options.grace)
            .map(|(id, _)| id.clone())
            .collect();
        for id in gone {
            self.remove(&id);
        }
    }

    fn forget_oldest(&mut self) -> bool {
        let away = self.agents.iter();
        let away = away.filter(|(_, agent)| agent.connection.is_none());
        let oldest = away.min_by_key(|(_, agent)| agent.left);
        let oldest = oldest.map(|(id, _)| id.clone());
        if let Some(id) = &oldest {
            self.remove(id);
        }
        oldest.is_some()
    }

    fn remove(&mut self, id: &AgentId) {
        self.tell_contacts(id, false);
        self.agents.remove(id);
    }

    fn tell_contacts(&self, id: &AgentId, online: bool) {
        let Some(agent) = self.agents.get(id) else {
            return;
        };
        let notice = Control::Presence {
            id: id.clone(),
            online,
        };
        let notice = notice.text();
        for contact in &agent.contacts {
            if let Some(contact) = self.agents.get(contact) {
                // A notice that finds no room is no loss: the requester repeats its request anyway.
                let _ = contact.queue.push(id, notice.clone());
            }
        }
    }

    /// Returns the queue of `to`, for a frame of `from`.
    pub(crate) fn route(&mut self, from: &AgentId, to: &AgentId) -> Option<Arc<Queue>> {
        let queue = Arc::clone(&self.agents.get(to)?.queue);
        for (one, other) in [(from, to), (to, from)] {
            if let Some(agent) = self.agents.get_mut(one)
                && !agent.contacts.contains(other)
            {
                if agent.contacts.len() >= CONTACTS {
                    agent.contacts.pop_front();
                }
                agent.contacts.push_back(other.clone());
            }
        }
        Some(queue)
    }

    pub(crate) fn list(&self) -> Vec<AgentRecord> {
        let mut agents: Vec<_> = self
            .agents
            .iter()
            .map(|(id, agent)| AgentRecord {
                id: id.clone(),
                name: agent.name.clone(),
                online: agent.connection.is_some(),
            })
            .collect();
        agents.sort_by(|a, b| a.id.cmp(&b.id));
        agents
    }

    pub(crate) fn len(&self) -> usize {
        self.agents.len()
    }
}

/// Compares two tokens in a time that does not depend on where they differ.
fn same(expected: Option<&str>, found: Option<&str>) -> bool {
    match (expected, found) {
        (Some(expected), Some(found)) if expected.len() == found.len() => {
            let pairs = expected.bytes().zip(found.bytes());
            pairs.fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
        }
        (None, None) => true,
        _ => false,
    }
}
