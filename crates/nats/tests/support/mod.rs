//! A network in one process, with loss, delay and crashes, all drawn from one seed.

#![allow(dead_code)] // each test uses a part

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use langgraph_nats::QueueError;
use langgraph_nats::link::{Link, LinkFuture, Packet};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How a network behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// The share of messages that are lost.
    pub(crate) loss: f64,
    /// The longest delay of a message.
    pub(crate) delay: Duration,
    /// The most bytes of a message.
    pub(crate) limit: usize,
    /// How long it takes to store a value.
    pub(crate) storing: Duration,
}

impl Conditions {
    pub(crate) const FINE: Self = Self {
        loss: 0.0,
        delay: Duration::ZERO,
        limit: 1 << 20,
        storing: Duration::ZERO,
    };
}

/// A network that machines join.
#[derive(Clone, Debug)]
pub(crate) struct Net(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    conditions: Conditions,
    random: fastrand::Rng,
    listeners: Vec<Listener>,
    stored: BTreeMap<String, Bytes>,
    /// Machines that the network does not reach, or that have crashed.
    cut_off: BTreeSet<usize>,
    next_machine: usize,
    /// When the last message of each pair arrives, so that they stay in order.
    last: HashMap<(usize, String), Instant>,
    sent: u64,
    /// The most bytes that were in the store.
    largest: usize,
}

#[derive(Debug)]
struct Listener {
    machine: usize,
    subject: String,
    packets: mpsc::UnboundedSender<(Instant, Packet)>,
}

impl Net {
    pub(crate) fn new(seed: u64, conditions: Conditions) -> Self {
        Self(Arc::new(Mutex::new(State {
            conditions,
            random: fastrand::Rng::with_seed(seed),
            listeners: Vec::new(),
            stored: BTreeMap::new(),
            cut_off: BTreeSet::new(),
            next_machine: 0,
            last: HashMap::new(),
            sent: 0,
            largest: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the link of a new machine.
    pub(crate) fn machine(&self) -> Machine {
        let mut state = self.lock();
        state.next_machine += 1;
        Machine {
            net: self.clone(),
            number: state.next_machine,
        }
    }

    /// Cuts a machine off, or lets it in again.
    pub(crate) fn cut_off(&self, machine: usize, cut: bool) {
        let mut state = self.lock();
        if cut {
            state.cut_off.insert(machine);
        } else {
            state.cut_off.remove(&machine);
        }
    }

    /// A machine crashes: its listeners are gone.
    pub(crate) fn crash(&self, machine: usize) {
        let mut state = self.lock();
        state
            .listeners
            .retain(|listener| listener.machine != machine);
        state.cut_off.insert(machine);
    }

    /// Returns how many messages were sent.
    pub(crate) fn sent(&self) -> u64 {
        self.lock().sent
    }

    /// Returns the names of the values in the store.
    pub(crate) fn names(&self) -> Vec<String> {
        self.lock().stored.keys().cloned().collect()
    }

    /// Returns how many values are in the store, and the most bytes that one had.
    pub(crate) fn stored(&self) -> (usize, usize) {
        let state = self.lock();
        (state.stored.len(), state.largest)
    }
}

/// A machine in a network.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    net: Net,
    pub(crate) number: usize,
}

fn covers(subject: &str, sent: &str) -> bool {
    match subject.strip_suffix('>') {
        Some(above) => sent.starts_with(above),
        None => subject == sent,
    }
}

impl State {
    fn deliver(&mut self, from: usize, packet: &Packet) -> bool {
        self.listeners
            .retain(|listener| !listener.packets.is_closed());
        let mut has_receiver = false;
        let lost_sender = self.cut_off.contains(&from);
        for index in 0..self.listeners.len() {
            let Some(listener) = self.listeners.get(index) else {
                continue;
            };
            if !covers(&listener.subject, &packet.subject) {
                continue;
            }
            has_receiver = true;
            let to = listener.machine;
            let lost = self.random.f64() < self.conditions.loss;
            if lost || lost_sender || self.cut_off.contains(&to) {
                continue;
            }
            let most = u64::try_from(self.conditions.delay.as_micros()).unwrap_or(0);
            let delay = Duration::from_micros(self.random.u64(0..=most));
            let key = (from, format!("{to} {}", listener.subject));
            let at = self.last.entry(key).or_insert_with(Instant::now);
            *at = (*at).max(Instant::now() + delay);
            let _ = listener.packets.send((*at, packet.clone()));
        }
        has_receiver
    }
}

impl Link for Machine {
    fn send(&self, subject: String, reply: Option<String>, payload: Bytes) -> LinkFuture<'_, ()> {
        Box::pin(async move {
            let mut state = self.net.lock();
            assert!(
                payload.len() <= state.conditions.limit,
                "{} bytes to {subject}",
                payload.len()
            );
            state.sent += 1;
            let packet = Packet {
                subject: subject.clone(),
                reply: reply.clone(),
                payload: Some(payload),
            };
            if !state.deliver(self.number, &packet)
                && let Some(reply) = reply
            {
                let undelivered = Packet {
                    subject: reply,
                    reply: None,
                    payload: None,
                };
                state.deliver(self.number, &undelivered);
            }
            Ok(())
        })
    }

    fn listen(&self, subject: String) -> LinkFuture<'_, mpsc::Receiver<Packet>> {
        Box::pin(async move {
            let (packets, mut incoming) = mpsc::unbounded_channel::<(Instant, Packet)>();
            let (ready, received) = mpsc::channel(1_024);
            tokio::spawn(async move {
                while let Some((at, packet)) = incoming.recv().await {
                    if at > Instant::now() {
                        tokio::time::sleep_until(at).await;
                    }
                    if ready.send(packet).await.is_err() {
                        return;
                    }
                }
            });
            self.net.lock().listeners.push(Listener {
                machine: self.number,
                subject,
                packets,
            });
            Ok(received)
        })
    }

    fn limit(&self) -> usize {
        self.net.lock().conditions.limit
    }

    fn put<'a>(&'a self, queue: &'a str, name: String, value: Bytes) -> LinkFuture<'a, ()> {
        Box::pin(async move {
            let storing = self.net.lock().conditions.storing;
            tokio::time::sleep(storing).await;
            let mut state = self.net.lock();
            state.largest = state.largest.max(value.len());
            state.stored.insert(format!("{queue}/{name}"), value);
            Ok(())
        })
    }

    fn get<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, Bytes> {
        Box::pin(async move {
            let value = self
                .net
                .lock()
                .stored
                .get(&format!("{queue}/{name}"))
                .cloned();
            value.ok_or_else(|| QueueError::Link {
                what: format!("`{name}` cannot be fetched"),
                source: "there is no such value".into(),
            })
        })
    }

    fn delete<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, ()> {
        Box::pin(async move {
            self.net.lock().stored.remove(&format!("{queue}/{name}"));
            Ok(())
        })
    }
}
