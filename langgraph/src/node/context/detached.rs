//! Contexts outside of runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use langgraph_core::Lock;
use serde_json::Value;

use super::Context;
use super::interrupts::Memory;
use crate::interrupt::{Answer, Interrupt};
use crate::log::answer_key;
use crate::node::once::OnceMemory;
use crate::node::{CancelToken, GraphPath, NodeId, Resources, Scope, Shared};
use crate::state::State;
use crate::stream::{Emitter, Event, EventReader, RawEvent, StreamModes, event_queue};
use langgraph_topology::NodeName;

/// What a [`DetachedContext`] shows its node.
#[derive(Clone, Debug)]
pub struct ContextOptions {
    /// The name of the node.
    pub node: NodeName,
    /// The superstep.
    pub step: usize,
    /// How many supersteps may follow.
    pub remaining_steps: usize,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The thread. Without one, interrupts are errors.
    pub thread: Option<String>,
    /// The resources.
    pub resources: Resources,
    /// The caller's metadata.
    pub metadata: BTreeMap<String, Value>,
    /// The answers to interrupts.
    pub answers: Vec<Answer>,
    /// Cancels the node.
    pub cancel: Option<CancelToken>,
    /// The events that are read.
    pub modes: StreamModes,
}

impl Default for ContextOptions {
    fn default() -> Self {
        Self {
            node: "node".into(),
            step: 1,
            remaining_steps: 24,
            attempt: 1,
            thread: Some("thread".to_owned()),
            resources: Resources::new(),
            metadata: BTreeMap::new(),
            answers: Vec::new(),
            cancel: None,
            modes: StreamModes::ALL,
        }
    }
}

/// A [`Context`] outside of a run, which records events and interrupts.
///
/// It is the base of the crate `langgraph-testing`, which is more convenient in tests.
pub struct DetachedContext {
    context: Context,
    events: Lock<(EventReader<RawEvent>, Vec<RawEvent>)>,
}

impl DetachedContext {
    /// Creates a context.
    pub fn new(options: ContextOptions) -> Self {
        let (sender, reader) = event_queue(usize::MAX);
        let scope = Scope {
            names: Arc::from([langgraph_topology::START.into(), options.node]),
            limit: options.remaining_steps,
            bounds: None,
            resources: options.resources.clone(),
            emitter: Some(Box::new(Emitter::new(sender, options.modes, true))),
            path: GraphPath::default(),
            heartbeat: None,
            finished_calls: None,
            shared: Arc::new(Shared {
                thread: options.thread,
                resources: options.resources,
                metadata: Some(Arc::new(options.metadata)),
                cancel: options.cancel,
                ..Shared::default()
            }),
        };
        let mut context = Context::new(Arc::new(scope), options.step, 0, NodeId::at(1));
        *context.attempt.get_mut() = options.attempt;
        context.remember(&options.answers, &[]);
        Self {
            context,
            events: Lock::new((reader, Vec::new())),
        }
    }

    /// Returns the context.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the open interrupts: those of the node, and those of a graph inside it.
    pub fn interrupts(&self) -> Vec<Interrupt> {
        let Some(memory) = self.context.memory.get() else {
            return Vec::new();
        };
        let state = memory.interrupts.lock();
        let own = state.open.clone().map(|question| {
            Interrupt::new(
                question.key.clone(),
                self.context.name(),
                Vec::new(),
                question,
            )
        });
        own.into_iter().chain(state.inner.clone()).collect()
    }

    /// Answers an interrupt, by its key or its id, and closes the open ones, so that the node can be called again. The
    /// interrupt of a graph inside the node has to be open.
    ///
    /// The context keeps the results of [`Context::once`].
    pub fn answer(&mut self, mut answer: Answer) {
        let open = self.interrupts();
        let is_it = |asked: &&Interrupt| asked.key == answer.key || asked.id == answer.key;
        if let Some(asked) = open.iter().find(is_it) {
            answer.key = answer_key(asked, &[]);
        }
        let mut answers = self.context.answers().to_vec();
        answers.retain(|old| old.key != answer.key);
        answers.push(answer);
        let once = OnceMemory::new(self.context.once_records());
        let identity = self
            .context
            .memory
            .get()
            .map(|memory| memory.identity.clone());
        // The next call counts its graphs anew, as the runtime does.
        *self.context.calls.get_mut() = 0;
        // Clones of the context keep the memory of the call that made them.
        self.context.memory = OnceLock::from(Arc::new(Memory {
            answers,
            once,
            identity: identity.unwrap_or_default(),
            ..Memory::default()
        }));
    }

    /// Returns the events so far.
    pub fn events<S: State>(&self) -> Vec<Event<S>> {
        let mut guard = self.events.lock();
        let (reader, known) = &mut *guard;
        known.extend(std::iter::from_fn(|| reader.pop()));
        let numbered = (0..).zip(known.iter().cloned());
        numbered.map(|(seq, raw)| Event::new(seq, raw)).collect()
    }
}

impl fmt::Debug for DetachedContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DetachedContext")
            .field(&self.context)
            .finish()
    }
}
