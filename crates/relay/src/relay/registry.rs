//! The agents of a relay.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use langgraph_core::environment;
use langgraph_remote::AgentId;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::options::RelayOptions;
use super::queue::{ByteBudget, Queue};
use crate::protocol::{AGENT_AWAY, AgentRecord, Control, Session};

/// The number of other agents whose presence an agent is sent.
const CONTACTS: usize = 256;
/// The most bytes of an id, and of each of the other texts of a registration.
const TEXT_BYTES: usize = 256;
/// The most bytes of a token.
const TOKEN_BYTES: usize = 4_096;

#[derive(Debug)]
pub(crate) struct Registry {
    room: ByteBudget,
    /// In the order of their ids, so that a list has pages.
    agents: BTreeMap<AgentId, Agent>,
}

#[derive(Debug)]
struct Agent {
    name: Option<String>,
    endpoint: Option<String>,
    registered_at: u64,
    token: Option<String>,
    session: Option<Session>,
    queue: Arc<Queue>,
    /// The connection that it uses, and the signal that closes it.
    connection: Option<(u64, Arc<Notify>)>,
    left: Instant,
    contacts: VecDeque<AgentId>,
}

/// The text fields of a registration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    pub(crate) name: Option<String>,
    pub(crate) endpoint: Option<String>,
}

impl Profile {
    /// Returns an error if a text is too long.
    fn check(&self) -> Result<(), (&'static str, String)> {
        for (field, text) in [("name", &self.name), ("endpoint", &self.endpoint)] {
            if text.as_ref().is_some_and(|text| text.len() > TEXT_BYTES) {
                let message = format!("a {field} has at most {TEXT_BYTES} bytes");
                return Err(("bad_request", message));
            }
        }
        Ok(())
    }
}

/// A registered connection.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) queue: Arc<Queue>,
    pub(crate) replaced: Arc<Notify>,
}

impl Registry {
    pub(crate) fn new(options: &RelayOptions) -> Self {
        Self {
            room: ByteBudget::new(options.queued),
            agents: BTreeMap::new(),
        }
    }

    /// Registers an agent. The error is a code and a sentence.
    pub(crate) fn register(
        &mut self,
        connection: u64,
        (id, profile, token): (&AgentId, Profile, Option<String>),
        session: Option<Session>,
        options: &RelayOptions,
    ) -> Result<Registration, (&'static str, String)> {
        check(id, &profile, token.as_deref(), session.as_ref(), options)?;
        let replaced = Arc::new(Notify::new());
        if let Some(agent) = self.agents.get_mut(id) {
            agent.reconnect(id, connection, &replaced, token.as_deref(), session)?;
            agent.update(profile);
            let queue = Arc::clone(&agent.queue);
            self.notify_contacts(id, true);
            return Ok(Registration { queue, replaced });
        }
        if self.agents.len() >= options.max_agents && !self.remove_oldest() {
            return Err(("overloaded", "the relay is full".to_owned()));
        }
        let room = self.room.clone();
        let queue = Queue::new(options.queue_frames, options.queue_bytes, room);
        let queue = Arc::new(queue);
        let agent = Agent {
            name: profile.name,
            endpoint: profile.endpoint,
            registered_at: now(),
            token,
            session,
            queue: Arc::clone(&queue),
            connection: Some((connection, Arc::clone(&replaced))),
            left: Instant::now(),
            contacts: VecDeque::new(),
        };
        self.agents.insert(id.clone(), agent);
        Ok(Registration { queue, replaced })
    }

    /// Changes the name and the endpoint of a registered agent.
    pub(crate) fn update(
        &mut self,
        id: &AgentId,
        profile: Profile,
    ) -> Result<(), (&'static str, String)> {
        profile.check()?;
        if let Some(agent) = self.agents.get_mut(id) {
            agent.update(profile);
        }
        Ok(())
    }

    /// Ends a connection. If its client closed it, the agent is removed at once.
    pub(crate) fn left(&mut self, connection: u64, id: &AgentId, is_closed: bool) {
        let Some(agent) = self.agents.get_mut(id) else {
            return;
        };
        if agent.connection.as_ref().map(|(number, _)| *number) != Some(connection) {
            return;
        }
        agent.connection = None;
        agent.left = Instant::now();
        if is_closed {
            self.remove(id);
        }
    }

    /// Removes the agents that left before the grace began.
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

    fn remove_oldest(&mut self) -> bool {
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
        self.notify_contacts(id, false);
        self.agents.remove(id);
    }

    fn notify_contacts(&self, id: &AgentId, online: bool) {
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
                // Without room it is dropped: the requester repeats its request anyway.
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

    /// Returns the agents after an id, in at most that many bytes, and the last id if more follow.
    pub(crate) fn list(
        &self,
        after: Option<&AgentId>,
        bytes: usize,
    ) -> (Vec<AgentRecord>, Option<AgentId>) {
        let mut used = 0;
        let mut page: Vec<AgentRecord> = Vec::new();
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        for (id, agent) in self.agents.range::<AgentId, _>((after, Bound::Unbounded)) {
            let record = agent.record(id);
            used += serde_json::to_string(&record).map_or(0, |text| text.len() + 1);
            if used > bytes && !page.is_empty() {
                let last = page.last().map(|record| record.id.clone());
                return (page, last);
            }
            page.push(record);
        }
        (page, None)
    }

    pub(crate) fn len(&self) -> usize {
        self.agents.len()
    }
}

impl Agent {
    /// Gives the agent a new connection, if the registration may have it.
    fn reconnect(
        &mut self,
        id: &AgentId,
        connection: u64,
        replaced: &Arc<Notify>,
        token: Option<&str>,
        session: Option<Session>,
    ) -> Result<(), (&'static str, String)> {
        // The token owns the id. An id without a token is free when its owner has left.
        let owner = token.is_some() && same(self.token.as_deref(), token);
        if !owner && (self.token.is_some() || self.connection.is_some()) {
            // Its owner may come back, or the id becomes free.
            let code = match self.connection {
                Some(_) => "agent_exists",
                None => AGENT_AWAY,
            };
            return Err((code, format!("`{id}` is registered already")));
        }
        if let (Some(known), Some(given)) = (&self.session, &session)
            && known.client == given.client
            && known.connection > given.connection
        {
            let message = format!("`{id}` has a newer connection");
            return Err(("stale", message));
        }
        self.session = session;
        if let Some((_, old)) = self.connection.take() {
            old.notify_one();
        }
        self.connection = Some((connection, Arc::clone(replaced)));
        Ok(())
    }

    fn update(&mut self, profile: Profile) {
        self.name = profile.name;
        self.endpoint = profile.endpoint;
        self.registered_at = now();
    }

    fn record(&self, id: &AgentId) -> AgentRecord {
        AgentRecord {
            id: id.clone(),
            name: self.name.clone(),
            endpoint: self.endpoint.clone(),
            registered_at: self.registered_at,
            online: self.connection.is_some(),
        }
    }
}

/// Checks the texts of a registration, and its token.
fn check(
    id: &AgentId,
    profile: &Profile,
    token: Option<&str>,
    session: Option<&Session>,
    options: &RelayOptions,
) -> Result<(), (&'static str, String)> {
    if id.as_str().is_empty() || id.as_str().len() > TEXT_BYTES {
        let message = format!("an id has 1 to {TEXT_BYTES} bytes");
        return Err(("bad_request", message));
    }
    profile.check()?;
    let session_bytes = session.map_or(0, |session| session.client.len());
    if session_bytes > TEXT_BYTES || token.is_some_and(|token| token.len() > TOKEN_BYTES) {
        let message = format!(
            "a token has at most {TOKEN_BYTES} bytes, and the name of a session {TEXT_BYTES}"
        );
        return Err(("bad_request", message));
    }
    if let Some(tokens) = &options.tokens {
        let expected = tokens.get(id).map(String::as_str);
        if !same(expected, token) || expected.is_none() {
            let message = format!("`{id}` needs its own token");
            return Err(("unauthorized", message));
        }
    }
    Ok(())
}

/// Returns the time in milliseconds since 1970.
fn now() -> u64 {
    let now = environment::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
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
