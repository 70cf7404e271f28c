//! Which process has a thread, as its nodes show it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long a process that went on may work before it knows that its threads were taken from it.
const NOTICES: Duration = Duration::from_millis(500);

/// The processes that work on threads.
#[derive(Default)]
pub(crate) struct Holders {
    threads: BTreeMap<String, Holder>,
    /// The processes whose threads another one has taken.
    superseded: BTreeSet<u64>,
}

/// The process that has a thread.
struct Holder {
    /// `None` if that is not known.
    process: Option<u64>,
    since: Duration,
    /// How many nodes each process carries out.
    nodes: BTreeMap<u64, u32>,
}

impl Holders {
    /// Begins a node. Returns the process that had the thread, if it still carries out nodes and this one has taken
    /// the thread from it. `interrupted` says when a process was, last.
    pub(crate) fn begin(
        &mut self,
        thread: &str,
        process: u64,
        now: Duration,
        interrupted: Option<Duration>,
    ) -> Option<u64> {
        let holder = self.threads.entry(thread.to_owned()).or_insert(Holder {
            process: Some(process),
            since: now,
            nodes: BTreeMap::new(),
        });
        *holder.nodes.entry(process).or_default() += 1;
        let before = holder.process;
        if before == Some(process) {
            return None;
        }
        // One that stood still may not know yet that it has lost the thread; or it has just got it.
        let is_late =
            interrupted.is_some_and(|at| at + NOTICES >= now || at + NOTICES >= holder.since);
        (holder.process, holder.since) = ((!is_late).then_some(process), now);
        let before = before.filter(|_| !is_late)?;
        self.superseded.insert(before);
        holder.nodes.contains_key(&before).then_some(before)
    }

    /// Ends a node.
    pub(crate) fn end(&mut self, thread: &str, process: u64) {
        let Some(holder) = self.threads.get_mut(thread) else {
            return;
        };
        if let Some(nodes) = holder.nodes.get_mut(&process) {
            *nodes -= 1;
            if *nodes == 0 {
                holder.nodes.remove(&process);
            }
        }
    }

    /// Returns the process that has had a thread since before that time, if it is another one.
    pub(crate) fn other(&self, thread: &str, process: u64, at: Duration) -> Option<u64> {
        let holder = self.threads.get(thread)?;
        let other = holder.process.filter(|other| *other != process)?;
        (holder.since < at).then_some(other)
    }

    /// Forgets which threads were taken from a process.
    pub(crate) fn forget_superseded(&mut self, process: u64) {
        self.superseded.remove(&process);
    }

    /// Returns true if another process has taken a thread of this one.
    pub(crate) fn is_superseded(&self, process: u64) -> bool {
        self.superseded.contains(&process)
    }
}
