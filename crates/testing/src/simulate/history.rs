//! What happened in a seed.

use std::fmt;

use serde_json::Value;

use super::client::ThreadEnd;
use super::event::{Effect, SimulationEvent, SimulationEventKind};
use super::fault::Fault;

/// What happened in a seed: an invariant reads it.
///
/// As text, it has a line for each event. The same seed gives the same text.
#[derive(Debug)]
pub struct History<S> {
    seed: u64,
    threads: Vec<ThreadHistory<S>>,
    events: Vec<SimulationEvent>,
}

impl<S> History<S> {
    pub(super) fn new(
        seed: u64,
        mut threads: Vec<ThreadHistory<S>>,
        events: Vec<SimulationEvent>,
    ) -> Self {
        for thread in &mut threads {
            let own = events.iter().filter(|event| event.thread == thread.id);
            thread.events = own.cloned().collect();
        }
        Self {
            seed,
            threads,
            events,
        }
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the threads.
    pub fn threads(&self) -> &[ThreadHistory<S>] {
        &self.threads
    }

    /// Returns all events, in their order.
    pub fn events(&self) -> &[SimulationEvent] {
        &self.events
    }

    /// Returns the effects of that name that happened, of all threads: without those that a service
    /// recognised as repetitions.
    pub fn effects<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h Effect> {
        effects(&self.events, name)
    }
}

impl<S> fmt::Display for History<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for event in &self.events {
            writeln!(f, "{event}")?;
        }
        Ok(())
    }
}

/// What happened on a thread.
#[derive(Debug)]
pub struct ThreadHistory<S> {
    id: String,
    number: u64,
    states: Vec<S>,
    end: Option<ThreadEnd>,
    events: Vec<SimulationEvent>,
}

impl<S> ThreadHistory<S> {
    pub(super) fn new(id: String, number: u64, states: Vec<S>, end: Option<ThreadEnd>) -> Self {
        Self {
            id,
            number,
            states,
            end,
            events: Vec::new(),
        }
    }

    /// Returns the id of the thread.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the number from which its input was made.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns its state at the end; `None` if nothing was stored.
    pub fn state(&self) -> Option<&S> {
        self.states.last()
    }

    /// Returns its states, one for each checkpoint, oldest first.
    pub fn states(&self) -> &[S] {
        &self.states
    }

    /// Returns how it ended; `None` if the simulation was stopped before.
    pub fn end(&self) -> Option<&ThreadEnd> {
        self.end.as_ref()
    }

    /// Returns true if its run is complete.
    pub fn is_done(&self) -> bool {
        self.end == Some(ThreadEnd::Done)
    }

    /// Returns its events, in their order.
    pub fn events(&self) -> &[SimulationEvent] {
        &self.events
    }

    /// Returns its effects of that name that happened: without those that a service recognised as
    /// repetitions.
    pub fn effects<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h Effect> {
        effects(&self.events, name)
    }

    /// Returns the answers that were sent: the keys of their interrupts, and the values.
    pub fn answers(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.events.iter().filter_map(|event| match &event.kind {
            SimulationEventKind::Answered { key, value } => Some((&**key, value)),
            _ => None,
        })
    }

    /// Returns the interrupts with which its runs returned: their keys, and what the nodes asked.
    pub fn interrupts(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.events.iter().filter_map(|event| match &event.kind {
            SimulationEventKind::Interrupted { key, payload } => Some((&**key, payload)),
            _ => None,
        })
    }

    /// Returns the answers and errors of its model, one for each call.
    pub fn model_calls(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match &event.kind {
            SimulationEventKind::ModelCalled { answer } => Some(&**answer),
            _ => None,
        })
    }

    /// Returns the writes that the saver has acknowledged.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match &event.kind {
            SimulationEventKind::Written {
                records,
                acknowledged: true,
            } => Some(&**records),
            _ => None,
        })
    }

    /// Returns the outcomes and errors that its clients got.
    pub fn outcomes(&self) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(|event| match &event.kind {
            SimulationEventKind::Returned { outcome, .. } => Some(&**outcome),
            _ => None,
        })
    }

    /// Returns its faults.
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        self.events.iter().filter_map(|event| match &event.kind {
            SimulationEventKind::Fault { fault, .. } => Some(*fault),
            _ => None,
        })
    }
}

fn effects<'h>(events: &'h [SimulationEvent], name: &'h str) -> impl Iterator<Item = &'h Effect> {
    events.iter().filter_map(move |event| match &event.kind {
        SimulationEventKind::Effect(effect) => {
            (effect.name == name && !effect.repeated).then_some(effect)
        }
        _ => None,
    })
}
