//! Messages between machines, for the queues of `langgraph-nats`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use langgraph_nats::QueueError;
use langgraph_nats::link::{Link, LinkFuture, Packet};
use tokio::sync::mpsc;

use crate::weather::{Conditions, Drawn, Weather};

/// When a machine that is cut off calls the store again.
const AGAIN: Duration = Duration::from_millis(100);

/// A network that machines join.
#[derive(Clone, Debug)]
pub struct Net {
    weather: Arc<dyn Weather>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    listeners: Vec<Listener>,
    stored: BTreeMap<String, Bytes>,
    /// Machines that the network does not reach, or that have crashed.
    cut_off: BTreeSet<usize>,
    next_machine: usize,
    /// When the last message of each pair arrives, so that they stay in order.
    last: BTreeMap<(usize, String), Duration>,
    sent: u64,
    /// The most bytes that were in the store.
    largest: usize,
}

#[derive(Debug)]
struct Listener {
    machine: usize,
    subject: String,
    packets: mpsc::UnboundedSender<(Duration, Packet)>,
}

impl Net {
    /// Creates a network whose conditions are drawn from a seed, on the clock of tokio.
    pub fn new(seed: u64, conditions: Conditions) -> Self {
        Self::in_weather(Drawn::new(seed, conditions))
    }

    /// Creates a network in some weather.
    pub fn in_weather(weather: impl Weather) -> Self {
        Self {
            weather: Arc::new(weather),
            state: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the link of a new machine.
    pub fn machine(&self) -> Machine {
        let mut state = self.lock();
        state.next_machine += 1;
        Machine {
            net: self.clone(),
            number: state.next_machine,
        }
    }

    /// Cuts a machine off, or lets it in again.
    pub fn cut_off(&self, machine: usize, cut: bool) {
        let mut state = self.lock();
        if cut {
            state.cut_off.insert(machine);
        } else {
            state.cut_off.remove(&machine);
        }
    }

    /// A machine crashes: its listeners are gone.
    pub fn crash(&self, machine: usize) {
        let mut state = self.lock();
        state
            .listeners
            .retain(|listener| listener.machine != machine);
        state.cut_off.insert(machine);
    }

    /// Returns how many messages were sent.
    pub fn sent(&self) -> u64 {
        self.lock().sent
    }

    /// Returns the names of the values in the store.
    pub fn names(&self) -> Vec<String> {
        self.lock().stored.keys().cloned().collect()
    }

    /// Returns how many values are in the store, and the most bytes that one had.
    pub fn stored(&self) -> (usize, usize) {
        let state = self.lock();
        (state.stored.len(), state.largest)
    }
}

/// A machine in a network.
#[derive(Clone, Debug)]
pub struct Machine {
    net: Net,
    /// Its number in the network.
    pub number: usize,
}

impl Machine {
    /// Takes the time of a call of the store, which waits while the network does not reach the machine.
    async fn reaches_store(&self) {
        let mut time = self.net.weather.storing();
        loop {
            if !time.is_zero() {
                tokio::time::sleep(time).await;
            }
            if !self.net.lock().cut_off.contains(&self.number) {
                return;
            }
            time = AGAIN;
        }
    }
}

fn covers(subject: &str, sent: &str) -> bool {
    match subject.strip_suffix('>') {
        Some(above) => sent.starts_with(above),
        None => subject == sent,
    }
}

impl Net {
    /// Sends a packet to its listeners. Returns false if there is none.
    fn deliver(&self, from: usize, packet: &Packet) -> bool {
        let mut state = self.lock();
        let State {
            listeners,
            cut_off,
            last,
            ..
        } = &mut *state;
        listeners.retain(|listener| !listener.packets.is_closed());
        let mut has_receiver = false;
        for listener in listeners.iter() {
            if !covers(&listener.subject, &packet.subject) {
                continue;
            }
            has_receiver = true;
            let to = listener.machine;
            let Some(lateness) = self.weather.lateness() else {
                continue;
            };
            if cut_off.contains(&from) || cut_off.contains(&to) {
                continue;
            }
            let arrives = self.weather.now() + lateness;
            let at = last.entry((from, format!("{to} {}", listener.subject)));
            let at = at.or_default();
            *at = (*at).max(arrives);
            let _ = listener.packets.send((*at, packet.clone()));
        }
        has_receiver
    }
}

impl Link for Machine {
    fn send(&self, subject: String, reply: Option<String>, payload: Bytes) -> LinkFuture<'_, ()> {
        Box::pin(async move {
            assert!(
                payload.len() <= self.limit(),
                "{} bytes to {subject}",
                payload.len()
            );
            self.net.lock().sent += 1;
            let packet = Packet {
                subject: subject.clone(),
                reply: reply.clone(),
                payload: Some(payload),
            };
            self.net.weather.is_sent(&packet);
            if !self.net.deliver(self.number, &packet)
                && let Some(reply) = reply
            {
                let undelivered = Packet {
                    subject: reply,
                    reply: None,
                    payload: None,
                };
                self.net.deliver(self.number, &undelivered);
            }
            Ok(())
        })
    }

    fn listen(&self, subject: String) -> LinkFuture<'_, mpsc::Receiver<Packet>> {
        Box::pin(async move {
            let (packets, mut incoming) = mpsc::unbounded_channel::<(Duration, Packet)>();
            let (ready, received) = mpsc::channel(1_024);
            let weather = Arc::clone(&self.net.weather);
            tokio::spawn(async move {
                while let Some((at, packet)) = incoming.recv().await {
                    let left = at.saturating_sub(weather.now());
                    if !left.is_zero() {
                        tokio::time::sleep(left).await;
                    }
                    weather.has_arrived(&packet);
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
        self.net.weather.limit()
    }

    fn put<'a>(&'a self, queue: &'a str, name: String, value: Bytes) -> LinkFuture<'a, ()> {
        Box::pin(async move {
            self.reaches_store().await;
            let mut state = self.net.lock();
            state.largest = state.largest.max(value.len());
            state.stored.insert(format!("{queue}/{name}"), value);
            Ok(())
        })
    }

    fn get<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, Bytes> {
        Box::pin(async move {
            self.reaches_store().await;
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
            self.reaches_store().await;
            self.net.lock().stored.remove(&format!("{queue}/{name}"));
            Ok(())
        })
    }
}
