//! The running tasks of a superstep. Nothing here depends on the state, so it is compiled once.

use tokio::task::JoinHandle;

/// Running tasks, by their places; dropping this stops them.
pub(super) struct Running {
    tasks: Vec<Option<JoinHandle<()>>>,
    count: usize,
}

impl Running {
    pub(super) fn with_capacity(tasks: usize) -> Self {
        Self {
            tasks: Vec::with_capacity(tasks),
            count: 0,
        }
    }

    /// Adds the task at `index`, which is behind those that were added before.
    pub(super) fn add(&mut self, index: usize, task: JoinHandle<()>) {
        self.tasks.resize_with(index, || None);
        self.tasks.push(Some(task));
        self.count += 1;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Frees what a task took that has ended.
    pub(super) fn forget(&mut self, index: usize) {
        let task = self.tasks.get_mut(index).and_then(Option::take);
        self.count -= usize::from(task.is_some());
    }

    /// Stops all tasks.
    pub(super) fn stop(&mut self) {
        for task in self.tasks.drain(..).flatten() {
            task.abort();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}
