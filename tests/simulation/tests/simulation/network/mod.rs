//! The network between hosts, in three forms: requests over HTTP, byte streams, and the messages of queues.

mod calls;
mod passage;
mod posts;
mod streams;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph_simulation::{Machine, Net};

pub(crate) use calls::{Calls, Lost, Reply, answer};
pub(crate) use streams::{Dialer, Streams};

use crate::world::World;

/// The network of a world. Hosts have names in it.
#[derive(Clone)]
pub(crate) struct Network {
    pub(crate) calls: Calls,
    pub(crate) streams: Streams,
    messages: Net,
    /// The machine of each host, among those that send messages.
    machines: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Network {
    pub(crate) fn new(world: &World, servers: usize) -> Self {
        Self {
            calls: Calls::new(world, servers),
            streams: Streams::new(world),
            messages: Net::in_weather(posts::Posts::new(world)),
            machines: Arc::default(),
        }
    }

    fn machines(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.machines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what a process of a host sends and receives messages with.
    pub(crate) fn link(&self, host: &str) -> Machine {
        let machine = self.messages.machine();
        self.machines().insert(host.to_owned(), machine.number);
        machine
    }

    /// Returns the names of the objects in the store of a queue.
    pub(crate) fn objects(&self, queue: &str) -> Vec<String> {
        let names = self.messages.names().into_iter();
        let of_queue =
            names.filter_map(|name| Some(name.strip_prefix(queue)?.get(1..)?.to_owned()));
        of_queue.collect()
    }

    /// Closes a host: its connections are cut, and it takes no others.
    pub(crate) fn close(&self, host: &str) {
        self.calls.close(host);
        self.streams.close(host);
        if let Some(machine) = self.machines().remove(host) {
            self.messages.crash(machine);
        }
    }

    /// Parts a host from all others until then: its streams are late, and its messages are lost.
    pub(crate) fn part(&self, host: &str, until: Duration) {
        self.streams.part(host, until);
        self.cut_off(host, true);
    }

    /// Ends that.
    pub(crate) fn rejoin(&self, host: &str) {
        self.cut_off(host, false);
    }

    fn cut_off(&self, host: &str, is_cut: bool) {
        if let Some(machine) = self.machines().get(host) {
            self.messages.cut_off(*machine, is_cut);
        }
    }
}
