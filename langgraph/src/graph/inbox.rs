//! Calls that wait for the active run of their thread, with their inputs.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langgraph_core::Lock;
use tokio::sync::oneshot;

use crate::checkpoint::UnfilledJoin;
use crate::error::ErrorKind;
use crate::interrupt::Interrupt;
use crate::log::Lease;
use crate::node::Output;
use crate::state::State;
use langgraph_topology::NodeName;

/// The active runs of this process on threads of a graph, which take inputs.
pub(crate) struct Inboxes<S: State>(Lock<HashMap<String, Arc<Inbox<S>>>>);

/// The calls that wait for the active run of a thread.
pub(crate) struct Inbox<S: State> {
    /// True if an input waits that the run may merge.
    merges: AtomicBool,
    inputs: Lock<Inputs<S>>,
}

struct Inputs<S: State> {
    closed: bool,
    waiting: VecDeque<Waiting<S>>,
    /// The calls whose inputs the run has merged.
    merged: Vec<oneshot::Sender<Delivery<S>>>,
}

struct Waiting<S: State> {
    /// The input, if the active run may merge it.
    input: Option<Output<S>>,
    merged: Arc<AtomicBool>,
    call: oneshot::Sender<Delivery<S>>,
}

/// How the run ended that merged an input.
pub(crate) enum RunEnd<S> {
    Done(S, Vec<UnfilledJoin>),
    Interrupted(S, Vec<Interrupt>, Vec<NodeName>),
    Drained(S, Vec<NodeName>),
    Failed(ErrorKind, String),
}

/// What becomes of a call that waits for the active run.
pub(crate) enum Delivery<S: State> {
    /// The run before it has ended: the thread is handed over to this call.
    HandedOver(Handover<S>),
    /// The run merged the input, and has ended.
    Ended(RunEnd<S>),
    /// The run that merged the input was dropped.
    Dropped,
    /// The run failed or was dropped, and has not merged the input.
    Returned,
}

/// A thread, from one run to the next.
pub(crate) struct Handover<S: State> {
    pub(crate) lease: Option<Lease>,
    /// With the calls that wait behind the next run.
    pub(crate) inbox: OpenInbox<S>,
}

impl<S: State> Default for Inboxes<S> {
    fn default() -> Self {
        Self(Lock::default())
    }
}

impl<S: State> Inboxes<S> {
    /// Opens the inbox of a run that holds its thread.
    pub(crate) fn open(self: &Arc<Self>, thread: &str) -> OpenInbox<S> {
        let inbox = Arc::new(Inbox {
            merges: AtomicBool::new(false),
            inputs: Lock::new(Inputs {
                closed: false,
                waiting: VecDeque::new(),
                merged: Vec::new(),
            }),
        });
        self.0.lock().insert(thread.to_owned(), Arc::clone(&inbox));
        OpenInbox {
            inboxes: Arc::clone(self),
            thread: thread.to_owned(),
            inbox,
        }
    }

    /// Waits behind the active run of the thread, which may merge `input`. The result is `None` if no
    /// run of this process is active. `begun` is called once the call waits.
    pub(crate) async fn deliver(
        &self,
        thread: &str,
        input: Option<Output<S>>,
        begun: impl FnOnce(),
    ) -> Option<Delivery<S>> {
        let inbox = self.0.lock().get(thread).cloned()?;
        let (call, delivery) = oneshot::channel();
        let merged = Arc::new(AtomicBool::new(false));
        let waiting = Waiting {
            input,
            merged: Arc::clone(&merged),
            call,
        };
        if !inbox.put(waiting) {
            return None;
        }
        begun();
        Some(match delivery.await {
            Ok(delivery) => delivery,
            Err(_) if merged.load(Ordering::Acquire) => Delivery::Dropped,
            Err(_) => Delivery::Returned,
        })
    }
}

impl<S: State> Inbox<S> {
    /// Returns true if an input waits that the run may merge.
    pub(crate) fn waits(inbox: Option<&Self>) -> bool {
        inbox.is_some_and(|inbox| inbox.merges.load(Ordering::Acquire))
    }

    /// Takes the inputs that the run may merge. `merge` returns the reason if it refuses one.
    pub(crate) fn take_mergeable(
        &self,
        mut merge: impl FnMut(Output<S>) -> Result<(), (ErrorKind, String)>,
    ) {
        let mut inputs = self.inputs.lock();
        self.merges.store(false, Ordering::Release);
        for mut waiting in std::mem::take(&mut inputs.waiting) {
            let Some(input) = waiting.input.take() else {
                inputs.waiting.push_back(waiting);
                continue;
            };
            if waiting.call.is_closed() {
                continue;
            }
            waiting.merged.store(true, Ordering::Release);
            match merge(input) {
                Ok(()) => inputs.merged.push(waiting.call),
                Err((kind, reason)) => {
                    let refused = RunEnd::Failed(kind, reason);
                    let _ = waiting.call.send(Delivery::Ended(refused));
                }
            }
        }
    }

    /// Sends the end of the run to the calls whose inputs it has merged.
    pub(crate) fn report_end(&self, end: impl Fn() -> RunEnd<S>) {
        let merged = std::mem::take(&mut self.inputs.lock().merged);
        for call in merged {
            let _ = call.send(Delivery::Ended(end()));
        }
    }

    /// Takes the call that has waited longest. Without one, the inbox closes.
    fn next_call(&self) -> Option<oneshot::Sender<Delivery<S>>> {
        let mut inputs = self.inputs.lock();
        let next = inputs.waiting.pop_front();
        inputs.closed = next.is_none();
        next.map(|waiting| waiting.call)
    }

    /// Adds a call; false if the run has ended.
    fn put(&self, waiting: Waiting<S>) -> bool {
        let mut inputs = self.inputs.lock();
        if inputs.closed {
            return false;
        }
        if waiting.input.is_some() {
            self.merges.store(true, Ordering::Release);
        }
        inputs.waiting.push_back(waiting);
        true
    }
}

/// An inbox that takes calls until it is dropped. Dropping it returns those that wait.
pub(crate) struct OpenInbox<S: State> {
    inboxes: Arc<Inboxes<S>>,
    thread: String,
    pub(crate) inbox: Arc<Inbox<S>>,
}

impl<S: State> OpenInbox<S> {
    /// Hands the thread over to the call that has waited longest. Without one, the inbox closes, and
    /// the lease is returned.
    pub(crate) fn hand_over(self, lease: Option<Lease>) -> Option<Lease> {
        let mut handover = Handover { lease, inbox: self };
        while let Some(call) = handover.inbox.inbox.next_call() {
            match call.send(Delivery::HandedOver(handover)) {
                Err(Delivery::HandedOver(refused)) => handover = refused,
                _ => return None,
            }
        }
        handover.lease
    }
}

impl<S: State> Drop for OpenInbox<S> {
    fn drop(&mut self) {
        let mut open = self.inboxes.0.lock();
        // A run that has taken the thread over has an inbox of its own.
        if open
            .get(&self.thread)
            .is_some_and(|inbox| Arc::ptr_eq(inbox, &self.inbox))
        {
            open.remove(&self.thread);
        }
        drop(open);
        let mut inputs = self.inbox.inputs.lock();
        inputs.closed = true;
        let returned = (
            std::mem::take(&mut inputs.waiting),
            std::mem::take(&mut inputs.merged),
        );
        drop(inputs);
        drop(returned);
    }
}
