//! The waits of a saver's threads.

use std::collections::BTreeMap;
use std::time::SystemTime;

use langgraph::checkpoint::{
    Checkpointer, Head, RunStatus, ThreadFilter, ThreadKey, open_interrupts,
};
use langgraph::error::CheckpointError;

use crate::wait::Wait;

/// How many threads one query lists.
const PAGE: usize = 1_000;

/// The waits of a saver's threads, kept from one look to the next.
///
/// [`read`](Self::read) lists the paused threads, and reads only those that have changed since. So a
/// program that looks every second pays for what is new, and not for all that waits.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
/// use langgraph::checkpoint::Checkpointer;
/// use langgraph::error::CheckpointError;
/// use langgraph_wait::Waits;
///
/// async fn look(saver: &dyn Checkpointer, waits: &mut Waits) -> Result<(), CheckpointError> {
///     waits.read(saver).await?;
///     for wait in waits.due(SystemTime::now()) {
///         println!("{} is due", wait.thread);
///     }
///     Ok(())
/// }
/// # let _ = look;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Waits {
    threads: BTreeMap<String, (Head, Vec<Wait>)>,
}

impl Waits {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what has changed in the saver.
    ///
    /// # Errors
    ///
    /// As [`due`](crate::due). Then the list is as it was before, or partly newer.
    pub async fn read<C: Checkpointer + ?Sized>(
        &mut self,
        saver: &C,
    ) -> Result<(), CheckpointError> {
        const CALL: &str = "a look at what is due";
        let missing = CheckpointError::NoAdministration(CALL);
        let administration = saver.administration().ok_or(missing)?;
        let mut known = std::mem::take(&mut self.threads);
        let mut filter = ThreadFilter::new()
            .status(RunStatus::Interrupted)
            .limit(PAGE);
        loop {
            let page = administration.threads(filter.clone()).await?;
            let is_last = page.len() < PAGE;
            if let Some(last) = page.last() {
                filter = filter.after(&last.thread);
            }
            for info in page {
                let known = known.remove(&info.thread);
                let unchanged = known.filter(|(head, _)| *head == info.head);
                let entry = if let Some(known) = unchanged {
                    known
                } else {
                    let graph = info.owner.as_ref().map(|owner| owner.graph.clone());
                    (info.head, waits_of(saver, &info.thread, graph).await?)
                };
                self.threads.insert(info.thread, entry);
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Returns the waits whose time has come at `now`, earliest first.
    pub fn due(&self, now: SystemTime) -> Vec<Wait> {
        let mut due: Vec<_> = self
            .iter()
            .filter(|wait| wait.is_due(now))
            .cloned()
            .collect();
        due.sort_by_key(|wait| wait.until);
        due
    }

    /// Returns the time at which the next wait is due.
    ///
    /// A loop that sleeps until then should also look in between: new waits come, and clocks are
    /// set.
    pub fn next(&self) -> Option<SystemTime> {
        self.iter().filter_map(|wait| wait.until).min()
    }

    /// Returns all waits, by thread.
    pub fn iter(&self) -> impl Iterator<Item = &Wait> {
        self.threads.values().flat_map(|(_, waits)| waits)
    }
}

/// Returns the waits of a thread.
async fn waits_of<C: Checkpointer + ?Sized>(
    saver: &C,
    thread: &str,
    graph: Option<String>,
) -> Result<Vec<Wait>, CheckpointError> {
    let key = ThreadKey::root(thread);
    let standing = saver.load_state(&key, None, &mut |_| ()).await?;
    let stored = standing.and_then(|standing| standing.checkpoint);
    let open = stored.iter().flat_map(open_interrupts);
    let waits = open.filter_map(|interrupt| Wait::of(thread, &interrupt));
    Ok(waits
        .map(|wait| Wait {
            graph: graph.clone(),
            ..wait
        })
        .collect())
}
