//! The program that serves the graphs.

use tokio::sync::Notify;

/// The name of a program, which its nodes write into their results: so a state shows what which program has done.
#[derive(Debug)]
pub struct Program {
    name: String,
    holds: bool,
    ticked: Notify,
    rested: Notify,
}

impl Program {
    /// Creates a program that finishes what it begins.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            holds: false,
            ticked: Notify::new(),
            rested: Notify::new(),
        }
    }

    /// Makes the later items of a map wait without end.
    pub(crate) fn holding(mut self) -> Self {
        self.holds = true;
        self
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    pub(crate) fn tick(&self) {
        self.ticked.notify_one();
    }

    pub(crate) fn rest(&self) {
        self.rested.notify_one();
    }

    /// Waits until a cron has started a run of `tick`.
    pub async fn has_ticked(&self) {
        self.ticked.notified().await;
    }

    /// Waits until a thread has gone on after its time to rest.
    pub async fn has_rested(&self) {
        self.rested.notified().await;
    }
}
