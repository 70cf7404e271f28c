//! The waits of a saver's threads.

use std::collections::BTreeMap;
use std::time::SystemTime;

use langgraph::checkpoint::{Checkpointer, Head, RunStatus, ThreadFilter};
use langgraph::error::CheckpointError;

use crate::read::{list, waits_of};
use crate::wait::Wait;

/// The waits of a saver's threads, kept from one look to the next.
///
/// [`read`](Self::read) lists the paused threads, and reads only those that have changed since. For a
/// program that shows what waits; one that only wakes threads calls [`wake_due`](crate::wake_due), which
/// does not read what is not due.
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
#[derive(Debug, Default)]
pub struct Waits {
    threads: BTreeMap<String, (Head, Vec<Wait>)>,
    unreadable: BTreeMap<String, CheckpointError>,
}

impl Waits {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads what has changed in the saver.
    ///
    /// A thread that cannot be read keeps the waits that were known of it, and is
    /// [named](Self::unreadable). It is read again the next time.
    ///
    /// # Errors
    ///
    /// As [`due`](crate::due). Then the list is as it was before.
    pub async fn read<C: Checkpointer + ?Sized>(
        &mut self,
        saver: &C,
    ) -> Result<(), CheckpointError> {
        let listed = list(saver, ThreadFilter::new().status(RunStatus::Interrupted)).await?;
        let mut known = std::mem::take(&mut self.threads);
        self.unreadable.clear();
        for info in listed {
            let known = known.remove(&info.thread);
            let entry = match known {
                Some(known) if known.0 == info.head => known,
                known => match waits_of(saver, &info).await {
                    Ok(waits) => (info.head, waits),
                    Err(error) => {
                        self.unreadable.insert(info.thread.clone(), error);
                        let Some(known) = known else { continue };
                        known
                    }
                },
            };
            self.threads.insert(info.thread, entry);
        }
        Ok(())
    }

    /// Returns the threads that could not be read, by name, and why.
    pub fn unreadable(&self) -> impl Iterator<Item = (&str, &CheckpointError)> {
        let unreadable = self.unreadable.iter();
        unreadable.map(|(thread, error)| (&**thread, error))
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
