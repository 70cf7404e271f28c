//! Work behind the answers of agents.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;

use tokio::sync::watch;

/// Work that middleware does when an agent has answered, in tasks of this process: see
/// [`LongTermMemory::extract_in`](crate::LongTermMemory::extract_in). Clones share the tasks.
///
/// A program waits for them before it ends, a server after `serve_until`: [`finish`](Self::finish).
///
/// # Examples
///
/// ```
/// use langgraph_middleware::Background;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let background = Background::new();
/// // .. agents run, and the program is about to end:
/// background.finish().await;
/// # }
/// ```
#[derive(Clone)]
pub struct Background {
    /// The keys of what is being done.
    active: watch::Sender<BTreeSet<String>>,
}

impl Background {
    /// Nothing is being done.
    pub fn new() -> Self {
        Self {
            active: watch::Sender::new(BTreeSet::new()),
        }
    }

    /// Waits until nothing is being done.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the work goes on.
    pub async fn finish(&self) {
        // It fails only without a sender, and this is one.
        let _ = self.active.subscribe().wait_for(BTreeSet::is_empty).await;
    }

    /// Does work in a task, unless work of this key is being done. Returns false if there is no runtime for it.
    pub(crate) fn start(
        &self,
        key: String,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> bool {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return false;
        };
        let is_new = self
            .active
            .send_if_modified(|active| active.insert(key.clone()));
        if is_new {
            let active = Active {
                background: self.clone(),
                key,
            };
            runtime.spawn(async move {
                work.await;
                drop(active);
            });
        }
        true
    }
}

impl Default for Background {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let active = self.active.borrow().len();
        f.debug_struct("Background")
            .field("active", &active)
            .finish()
    }
}

/// Work that is being done, until it is dropped: also by a panic.
struct Active {
    background: Background,
    key: String,
}

impl Drop for Active {
    fn drop(&mut self) {
        let active = &self.background.active;
        active.send_if_modified(|active| active.remove(&self.key));
    }
}
