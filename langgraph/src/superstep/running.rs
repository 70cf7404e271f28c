//! The running tasks of a superstep, and their reports. Nothing here depends on the state, so it is
//! compiled once.

use std::task::{Context, Poll};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Running tasks, by their places; dropping this stops them.
pub(super) struct Running(Vec<Option<JoinHandle<()>>>);

impl Running {
    pub(super) fn with_capacity(tasks: usize) -> Self {
        Self(Vec::with_capacity(tasks))
    }

    /// Adds the task at `index`, which is behind those that were added before.
    pub(super) fn add(&mut self, index: usize, task: JoinHandle<()>) {
        self.0.resize_with(index, || None);
        self.0.push(Some(task));
    }

    /// Frees what a task took that has ended.
    pub(super) fn forget(&mut self, index: usize) {
        self.0.get_mut(index).and_then(Option::take);
    }

    /// Forgets all tasks, and stops none.
    pub(super) fn forget_all(&mut self) {
        self.0.clear();
    }

    /// Stops all tasks.
    pub(super) fn stop(&mut self) {
        for task in self.0.drain(..).flatten() {
            task.abort();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reports the ends of tasks.
pub(super) struct EndReporter(mpsc::UnboundedSender<usize>);

/// Receives the reports of tasks that have ended: their indices.
pub(super) struct Reports(mpsc::UnboundedReceiver<usize>);

pub(super) fn reports() -> (EndReporter, Reports) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (EndReporter(sender), Reports(receiver))
}

impl EndReporter {
    pub(super) fn report(&self, index: usize) {
        // The report is not read after the run has been dropped.
        let _ = self.0.send(index);
    }
}

impl Reports {
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        self.0.poll_recv(cx)
    }
}
