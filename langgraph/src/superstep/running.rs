//! The running tasks of a superstep. Nothing here depends on the state, so it is compiled once.

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
