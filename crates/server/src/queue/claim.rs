//! A run that a process carries out.

/// A run that a worker has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The id of the run.
    pub(crate) run: String,
    /// The thread of the run.
    pub(crate) thread: String,
    /// The owner of the thread.
    pub(crate) owner: String,
    /// What was put in the queue.
    pub(crate) payload: String,
    /// The fencing number: each claim of a run has a higher one.
    pub(crate) fence: i64,
    /// The attempt, from 1. It grows when a worker was lost, not when one gave the run back.
    pub(crate) attempt: i64,
    /// A request to cancel that came before the claim.
    pub(crate) cancel: Option<Cancel>,
    /// What the transaction that claimed it has done besides.
    pub(crate) with: ClaimedWith,
    /// The lease of its thread was taken with it.
    pub(crate) has_lease: bool,
}

/// What the transaction that claims a run has done besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimedWith {
    Nothing,
    /// The run was put in the queue: it has no events.
    Submission,
    /// So it was, and its thread was created and marked as busy: nothing was there before the run.
    NewThread {
        /// The run has numbers for its events.
        has_numbers: bool,
    },
}

impl Claim {
    /// Creates the first claim of a run.
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
            fence: 1,
            attempt: 1,
            cancel: None,
            with: ClaimedWith::Nothing,
            has_lease: false,
        }
    }

    /// Returns the name under which the run holds its thread: a new one for each claim.
    pub(crate) fn holder(&self) -> String {
        format!("{}/{}", self.run, self.fence)
    }

    /// Returns the claim without what was put in the queue.
    pub(crate) fn without_payload(&self) -> Self {
        Self {
            owner: self.owner.clone(),
            fence: self.fence,
            attempt: self.attempt,
            cancel: self.cancel,
            with: self.with,
            has_lease: self.has_lease,
            ..Self::new(&self.run, &self.thread, "")
        }
    }

    /// Sets the fencing number.
    #[must_use]
    pub(crate) fn fence(mut self, fence: i64) -> Self {
        self.fence = fence;
        self
    }

    /// Sets the attempt.
    #[must_use]
    pub(crate) fn attempt(mut self, attempt: i64) -> Self {
        self.attempt = attempt;
        self
    }

    /// Sets the request to cancel.
    #[must_use]
    pub(crate) fn cancel(mut self, cancel: Option<Cancel>) -> Self {
        self.cancel = cancel;
        self
    }
}

/// What happens to a run that is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancel {
    /// What it has done is kept.
    Interrupt,
    /// What it has done is taken back, and the run is removed.
    Rollback,
}

impl Cancel {
    /// Returns the word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupt",
            Self::Rollback => "rollback",
        }
    }

    /// Reads the word for it.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Interrupt, Self::Rollback]
            .into_iter()
            .find(|action| action.as_str() == word)
    }
}

/// A run that a worker still holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// The id of the run.
    pub(crate) run: String,
    /// The fencing number of the claim.
    pub(crate) fence: i64,
    /// A request to cancel it.
    pub(crate) cancel: Option<Cancel>,
}
