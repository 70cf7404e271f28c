//! A run that waits.

use std::time::SystemTime;

use super::Cancel;

/// A run, as it is put in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    /// The id of the run.
    pub(crate) run: String,
    /// The thread, which has one running run at a time.
    pub(crate) thread: String,
    /// The owner of the thread. Owners take turns.
    pub(crate) owner: String,
    /// What the process that carries out the run has to know.
    pub(crate) payload: String,
    /// When it may start at the earliest; `None`: at once.
    pub(crate) not_before: Option<SystemTime>,
    /// What becomes of the other runs of the thread when its time has come, if it has one: those that are due or run.
    pub(crate) stops: Option<Cancel>,
    /// Of the runs of a thread, and of those of an owner, the one with the highest priority starts
    /// first.
    pub(crate) priority: i64,
    /// One run of those with the same key runs at a time.
    pub(crate) concurrency_key: Option<String>,
    /// It is refused if another run of the thread is due or runs. One whose time has not come ends with an error then,
    /// if it is so.
    pub(crate) unless_busy: bool,
    /// It is refused if its thread has no row.
    pub(crate) needs_thread: bool,
    /// It is refused if the row of its thread has another document.
    pub(crate) thread_doc: Option<String>,
    /// It is refused if that many runs of the owner wait.
    pub(crate) most_waiting: Option<u64>,
    /// The request for it, which may come again.
    pub(crate) request: Option<RequestKey>,
}

/// What a delayed run does when its time has come, and its thread is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhenDue {
    /// It stops the others.
    Stop(Cancel),
    /// It ends with an error.
    GiveWay,
}

impl WhenDue {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stop(action) => action.as_str(),
            Self::GiveWay => "reject",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "reject" => Some(Self::GiveWay),
            action => Cancel::parse(action).map(Self::Stop),
        }
    }
}

/// The name that a client has given to a request, to send it again without doing it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestKey {
    pub(crate) name: String,
    /// A digest of the request: another one may not have the name.
    pub(crate) digest: String,
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Queued,
    /// Another run of the thread is due or runs.
    Busy,
    /// The thread is not there any more.
    Gone,
    /// The row of the thread has changed since it was read.
    Changed,
    /// Too many runs of the owner wait.
    TooMany,
    /// The request was carried out before, or there is a run with its id.
    Known,
}

impl Job {
    /// Creates a job that may start at once.
    pub(crate) fn new(
        run: impl Into<String>,
        thread: impl Into<String>,
        payload: impl Into<String>,
    ) -> Self {
        Self {
            run: run.into(),
            thread: thread.into(),
            owner: String::new(),
            payload: payload.into(),
            not_before: None,
            stops: None,
            priority: 0,
            concurrency_key: None,
            unless_busy: false,
            needs_thread: false,
            thread_doc: None,
            most_waiting: None,
            request: None,
        }
    }

    /// Returns what it does when its time has come, if it does more than to wait for the other runs of its thread.
    pub(crate) fn when_due(&self) -> Option<WhenDue> {
        let unless_busy = self.unless_busy && self.not_before.is_some();
        let unless_busy = unless_busy.then_some(WhenDue::GiveWay);
        self.stops.map(WhenDue::Stop).or(unless_busy)
    }

    /// Sets the owner of the thread.
    #[must_use]
    pub(crate) fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = owner.into();
        self
    }
}

/// What cases of queues set.
#[cfg(test)]
impl Job {
    /// Sets when it may start at the earliest.
    #[must_use]
    pub(crate) fn not_before(mut self, time: SystemTime) -> Self {
        self.not_before = Some(time);
        self
    }

    /// Sets the priority; the default is 0.
    #[must_use]
    pub(crate) fn priority(mut self, priority: i64) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the concurrency key.
    #[must_use]
    pub(crate) fn concurrency_key(mut self, key: impl Into<String>) -> Self {
        self.concurrency_key = Some(key.into());
        self
    }

    /// Has it refused if the thread is busy.
    #[must_use]
    pub(crate) fn unless_busy(mut self) -> Self {
        self.unless_busy = true;
        self
    }

    /// Limits how many runs of its owner may wait.
    #[must_use]
    pub(crate) fn most_waiting(mut self, runs: u64) -> Self {
        self.most_waiting = Some(runs);
        self
    }

    /// Names its request.
    #[must_use]
    pub(crate) fn request(mut self, name: &str, digest: &str) -> Self {
        self.request = Some(RequestKey {
            name: name.to_owned(),
            digest: digest.to_owned(),
        });
        self
    }
}
