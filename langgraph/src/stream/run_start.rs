//! The start of a run, as its stream sees it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use langgraph_core::Lock;

use crate::state::{FieldSet, WrittenFields};

/// What a run and its stream share: the run's id, when the run counts as accepted, and what is known of the state at
/// its end.
///
/// It is accepted when its first superstep has begun and its nodes have taken the answers that the
/// run was given, or when that superstep is over.
pub(crate) struct RunStart {
    pub(crate) run_id: String,
    progress: Lock<StartProgress>,
    /// True once nothing changes any more: every superstep asks.
    accepted: AtomicBool,
    written: Lock<Option<FieldSet>>,
}

#[derive(Default)]
struct StartProgress {
    begun: bool,
    /// The questions whose answers no node has taken yet, by key or id.
    untaken: Vec<String>,
    accepted: bool,
    waker: Option<Waker>,
}

impl RunStart {
    pub(crate) fn new() -> Self {
        Self {
            run_id: langgraph_core::new_id().to_string(),
            progress: Lock::default(),
            accepted: AtomicBool::new(false),
            written: Lock::default(),
        }
    }

    /// Notes the questions whose answers the run was given.
    pub(crate) fn expect(&self, questions: impl IntoIterator<Item = String>) {
        self.progress.lock().untaken.extend(questions);
    }

    /// Notes that a superstep begins.
    #[inline]
    pub(crate) fn begin_superstep(&self) {
        self.change(|progress| {
            progress.accepted = progress.begun;
            progress.begun = true;
        });
    }

    /// Notes that another run takes the input.
    pub(crate) fn accept(&self) {
        self.change(|progress| progress.accepted = true);
    }

    /// Notes that a node has taken the answer to `key`. Ids of questions end with their key.
    pub(crate) fn answer_taken(&self, key: &str) {
        let is_it = |question: &String| {
            let base = question.strip_suffix(key);
            base.is_some_and(|base| base.is_empty() || base.ends_with(':'))
        };
        self.change(|progress| {
            if let Some(taken) = progress.untaken.iter().position(is_it) {
                progress.untaken.swap_remove(taken);
            }
        });
    }

    /// Notes which fields of the state were written at the end of the run.
    pub(crate) fn note_written(&self, written: &WrittenFields) {
        *self.written.lock() = written.fields();
    }

    /// Returns the fields of the state that were written at the end of the run.
    pub(crate) fn written(&self) -> Option<FieldSet> {
        self.written.lock().clone()
    }

    /// Ready once the run is accepted.
    pub(crate) fn poll_accepted(&self, cx: &Context<'_>) -> Poll<()> {
        let mut progress = self.progress.lock();
        if progress.accepted {
            return Poll::Ready(());
        }
        progress.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    #[inline]
    fn change(&self, change: impl FnOnce(&mut StartProgress)) {
        if !self.accepted.load(Ordering::Relaxed) {
            self.change_progress(change);
        }
    }

    #[cold]
    fn change_progress(&self, change: impl FnOnce(&mut StartProgress)) {
        let mut progress = self.progress.lock();
        if progress.accepted {
            return;
        }
        change(&mut progress);
        progress.accepted |= progress.begun && progress.untaken.is_empty();
        self.accepted.store(progress.accepted, Ordering::Relaxed);
        let waker = progress.accepted.then(|| progress.waker.take()).flatten();
        drop(progress);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
