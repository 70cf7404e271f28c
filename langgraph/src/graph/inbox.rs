//! Calls that wait for the active run of their thread, with their inputs.
//!
//! Nothing here depends on the state, so that it is compiled once: the types of inputs and outcomes are erased. Those of
//! a graph are all of its state.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langgraph_core::Lock;
use tokio::sync::oneshot;

use crate::error::ErrorKind;
use crate::log::{BoxFuture, Lease};
use crate::stream::RunStart;

/// An `Output<S>`, or an `Outcome<S>`.
pub(crate) type Untyped = Box<dyn Any + Send>;

/// The active runs of this process on threads of a graph, which take inputs.
#[derive(Default)]
pub(crate) struct Inboxes(Lock<HashMap<String, Arc<Inbox>>>);

/// The calls that wait for the active run of a thread.
pub(crate) struct Inbox {
    /// True if an input waits that the run may merge.
    merges: AtomicBool,
    inputs: Lock<Inputs>,
}

struct Inputs {
    closed: bool,
    waiting: VecDeque<Waiting>,
    /// The calls whose inputs the run has merged.
    merged: Vec<oneshot::Sender<Delivery>>,
}

struct Waiting {
    /// The input, if the active run may merge it.
    input: Option<Untyped>,
    merged: Arc<AtomicBool>,
    call: oneshot::Sender<Delivery>,
}

/// What becomes of a call that waits for the active run.
pub(crate) enum Delivery {
    /// The run before it has ended: the thread is handed over to this call.
    HandedOver(Handover),
    /// The run merged the input, and had this outcome.
    Ended(Untyped),
    /// The run refused the input; or it merged the input, and failed.
    Failed(ErrorKind, String),
    /// The run that merged the input was dropped.
    Dropped,
    /// The run failed or was dropped, and has not merged the input.
    Returned,
}

/// A thread, from one run to the next.
pub(crate) struct Handover {
    pub(crate) lease: Option<Lease>,
    /// With the calls that wait behind the next run.
    pub(crate) inbox: OpenInbox,
}

impl Inboxes {
    /// Opens the inbox of a run that holds its thread.
    pub(crate) fn open(self: &Arc<Self>, thread: &str) -> OpenInbox {
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
    /// run of this process is active. Once the call waits, it is accepted for the reader of its events.
    pub(crate) fn deliver<'a>(
        &'a self,
        thread: &'a str,
        input: Option<Untyped>,
        begun: Option<&'a RunStart>,
    ) -> BoxFuture<'a, Option<Delivery>> {
        Box::pin(async move {
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
            if let Some(start) = begun {
                start.accept();
            }
            Some(match delivery.await {
                Ok(delivery) => delivery,
                Err(_) if merged.load(Ordering::Acquire) => Delivery::Dropped,
                Err(_) => Delivery::Returned,
            })
        })
    }
}

impl Inbox {
    /// Returns true if an input waits that the run may merge.
    pub(crate) fn waits(inbox: Option<&Self>) -> bool {
        inbox.is_some_and(|inbox| inbox.merges.load(Ordering::Acquire))
    }

    /// Takes the inputs that the run may merge. `merge` returns the reason if it refuses one.
    pub(crate) fn take_mergeable(
        &self,
        merge: &mut dyn FnMut(Untyped) -> Result<(), (ErrorKind, String)>,
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
                    let _ = waiting.call.send(Delivery::Failed(kind, reason));
                }
            }
        }
    }

    /// Sends the end of the run to the calls whose inputs it has merged.
    pub(crate) fn report_end(&self, end: &dyn Fn() -> Delivery) {
        let merged = std::mem::take(&mut self.inputs.lock().merged);
        for call in merged {
            let _ = call.send(end());
        }
    }

    /// Takes the call that has waited longest. Without one, the inbox closes.
    fn next_call(&self) -> Option<oneshot::Sender<Delivery>> {
        let mut inputs = self.inputs.lock();
        let next = inputs.waiting.pop_front();
        inputs.closed = next.is_none();
        next.map(|waiting| waiting.call)
    }

    /// Adds a call; false if the run has ended.
    fn put(&self, waiting: Waiting) -> bool {
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
pub(crate) struct OpenInbox {
    inboxes: Arc<Inboxes>,
    thread: String,
    pub(crate) inbox: Arc<Inbox>,
}

impl OpenInbox {
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

impl Drop for OpenInbox {
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
