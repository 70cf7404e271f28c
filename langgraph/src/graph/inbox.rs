//! Inputs that later calls give to the active run of their thread.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::checkpoint::UnfilledJoin;
use crate::error::ErrorKind;
use crate::interrupt::Interrupt;
use crate::node::Output;
use crate::state::State;
use langgraph_topology::NodeName;

/// The active runs of this process on threads of a graph, which take inputs.
pub(crate) struct Inboxes<S: State>(Mutex<HashMap<String, Arc<Inbox<S>>>>);

/// The inputs for one run.
pub(crate) struct Inbox<S: State> {
    /// True if an input waits that need not wait for the next turn.
    joins: AtomicBool,
    inputs: Mutex<Inputs<S>>,
}

struct Inputs<S: State> {
    closed: bool,
    waiting: VecDeque<Waiting<S>>,
    /// The calls whose input this turn has taken.
    taken: Vec<oneshot::Sender<TurnEnd<S>>>,
}

struct Waiting<S: State> {
    input: Output<S>,
    joins: bool,
    taken: Arc<AtomicBool>,
    call: oneshot::Sender<TurnEnd<S>>,
}

/// How the turn ended that took an input.
#[derive(Clone)]
pub(crate) enum TurnEnd<S> {
    Done(S, Vec<UnfilledJoin>),
    Paused(S, Vec<Interrupt>, Vec<NodeName>),
    Failed(ErrorKind, String),
}

/// What becomes of an input that was given to the active run.
pub(crate) enum Delivery<S> {
    Ended(TurnEnd<S>),
    /// The run that took the input was dropped.
    Dropped,
    /// The run ended without taking the input.
    Returned,
}

impl<S: State> Default for Inboxes<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: State> Inboxes<S> {
    /// Opens the inbox of a run that holds its thread.
    pub(crate) fn open(self: &Arc<Self>, thread: &str) -> OpenInbox<S> {
        let inbox = Arc::new(Inbox {
            joins: AtomicBool::new(false),
            inputs: Mutex::new(Inputs {
                closed: false,
                waiting: VecDeque::new(),
                taken: Vec::new(),
            }),
        });
        self.lock().insert(thread.to_owned(), Arc::clone(&inbox));
        OpenInbox {
            inboxes: Arc::clone(self),
            thread: thread.to_owned(),
            inbox,
        }
    }

    /// Gives an input to the active run of the thread, and waits for the end of its turn. The
    /// result is `None` if no run of this process is active. `begun` is called once the input waits.
    pub(crate) async fn deliver(
        &self,
        thread: &str,
        input: &Output<S>,
        joins: bool,
        begun: impl FnOnce(),
    ) -> Option<Delivery<S>> {
        let inbox = self.lock().get(thread).cloned()?;
        let (call, end) = oneshot::channel();
        let taken = Arc::new(AtomicBool::new(false));
        let waiting = Waiting {
            input: input.clone(),
            joins,
            taken: Arc::clone(&taken),
            call,
        };
        if !inbox.put(waiting) {
            return None;
        }
        begun();
        Some(match end.await {
            Ok(end) => Delivery::Ended(end),
            Err(_) if taken.load(Ordering::Acquire) => Delivery::Dropped,
            Err(_) => Delivery::Returned,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Inbox<S>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: State> Inbox<S> {
    /// Returns true if an input waits that need not wait for the next turn.
    pub(crate) fn has_joining(&self) -> bool {
        self.joins.load(Ordering::Acquire)
    }

    /// Takes the inputs that need not wait for the next turn. `merge` returns the reason if it
    /// refuses one.
    pub(crate) fn take_joining(
        &self,
        mut merge: impl FnMut(Output<S>) -> Result<(), (ErrorKind, String)>,
    ) {
        let mut inputs = self.lock();
        self.joins.store(false, Ordering::Release);
        let waiting = std::mem::take(&mut inputs.waiting);
        for waiting in waiting {
            if !waiting.joins {
                inputs.waiting.push_back(waiting);
            } else if let Some(input) = inputs.take(waiting)
                && let Err((kind, reason)) = merge(input)
                && let Some(call) = inputs.taken.pop()
            {
                let _ = call.send(TurnEnd::Failed(kind, reason));
            }
        }
    }

    /// Takes the input of the next turn. Without one, the inbox closes.
    pub(crate) fn next_turn(&self) -> Option<Output<S>> {
        let mut inputs = self.lock();
        while let Some(waiting) = inputs.waiting.pop_front() {
            if let Some(input) = inputs.take(waiting) {
                return Some(input);
            }
        }
        inputs.closed = true;
        None
    }

    /// Sends the end of the turn to the calls whose inputs it has taken.
    pub(crate) fn end_turn(&self, end: impl Fn() -> TurnEnd<S>) {
        let taken = std::mem::take(&mut self.lock().taken);
        for call in taken {
            let _ = call.send(end());
        }
    }

    /// Adds an input; false if the run takes no more.
    fn put(&self, waiting: Waiting<S>) -> bool {
        let mut inputs = self.lock();
        if inputs.closed {
            return false;
        }
        if waiting.joins {
            self.joins.store(true, Ordering::Release);
        }
        inputs.waiting.push_back(waiting);
        true
    }

    fn lock(&self) -> MutexGuard<'_, Inputs<S>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: State> Inputs<S> {
    /// Returns the input, unless its call was dropped.
    fn take(&mut self, waiting: Waiting<S>) -> Option<Output<S>> {
        if waiting.call.is_closed() {
            return None;
        }
        waiting.taken.store(true, Ordering::Release);
        self.taken.push(waiting.call);
        Some(waiting.input)
    }
}

/// An inbox that takes inputs until it is dropped. Dropping it returns what it has not taken.
pub(crate) struct OpenInbox<S: State> {
    inboxes: Arc<Inboxes<S>>,
    thread: String,
    pub(crate) inbox: Arc<Inbox<S>>,
}

impl<S: State> Drop for OpenInbox<S> {
    fn drop(&mut self) {
        let mut open = self.inboxes.lock();
        // A run that has taken the thread over has an inbox of its own.
        if open
            .get(&self.thread)
            .is_some_and(|inbox| Arc::ptr_eq(inbox, &self.inbox))
        {
            open.remove(&self.thread);
        }
        drop(open);
        let mut inputs = self.inbox.lock();
        inputs.closed = true;
        let returned = (
            std::mem::take(&mut inputs.waiting),
            std::mem::take(&mut inputs.taken),
        );
        drop(inputs);
        drop(returned);
    }
}
