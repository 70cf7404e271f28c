//! Links in the log that a run has shared.

use std::sync::Arc;

use super::record::{Record, Whole};
use super::task_records::TaskRecords;
use crate::checkpoint::{Links, PayloadValue};
use crate::checkpoint_id::CheckpointId;

/// Links that another one follows, which has the results of their tasks: all of a list but its last. They are kept as
/// the run has left them, and made records when they are read.
#[derive(Clone)]
pub(super) struct Linked {
    links: Arc<dyn Links>,
    len: usize,
    /// The last whole checkpoint before them.
    whole: Arc<Whole>,
    /// The checkpoint before them, and how many links behind the whole one that is.
    before: (CheckpointId, u32),
}

impl Linked {
    /// Adds the links behind `newest`. Returns all but the last, if there are several, and the last as a record.
    pub(super) fn behind(
        newest: &mut Record,
        links: Arc<dyn Links>,
    ) -> Option<(Option<Self>, Record)> {
        let len = links.count().checked_sub(1)?;
        newest.finish(Arc::clone(&links).done(0)?);
        let (whole, distance) = newest.whole();
        let linked = Self {
            links,
            len,
            whole: Arc::clone(whole),
            before: (newest.id(), distance),
        };
        let last = linked.record_with(len, TaskRecords::new())?;
        Some(((len > 0).then_some(linked), last))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn id(&self, index: usize) -> Option<CheckpointId> {
        self.links.id(index).filter(|_| index < self.len)
    }

    /// Returns where a link is, or where it belongs.
    pub(super) fn find(&self, id: CheckpointId) -> Result<usize, usize> {
        let (mut from, mut to) = (0, self.len);
        while from < to {
            let middle = from.midpoint(to);
            match self.id(middle) {
                Some(found) if found == id => return Ok(middle),
                Some(found) if found < id => from = middle + 1,
                _ => to = middle,
            }
        }
        Err(from)
    }

    /// Returns a link as a record.
    pub(super) fn record(&self, index: usize) -> Option<Record> {
        let done = Arc::clone(&self.links).done(index + 1);
        self.finished(index, done)
    }

    /// Returns the wanted links as records that keep nothing of the others.
    pub(super) fn own_records(&self, wanted: impl Fn(&Record) -> bool) -> Vec<Record> {
        let own = |index| {
            self.record(index).filter(&wanted)?;
            self.finished(index, self.links.own_done(index + 1))
        };
        (0..self.len).filter_map(own).collect()
    }

    fn finished(&self, index: usize, done: Option<PayloadValue>) -> Option<Record> {
        self.record_with(index, TaskRecords::Finished(done?))
    }

    fn record_with(&self, index: usize, tasks: TaskRecords) -> Option<Record> {
        let (before, distance) = match index.checked_sub(1) {
            None => self.before,
            Some(last) => {
                let links = u32::try_from(index).unwrap_or(u32::MAX);
                (self.links.id(last)?, self.before.1.saturating_add(links))
            }
        };
        let link = self.links.link(index)?;
        Some(Record::of_link(
            &self.whole,
            (before, distance),
            link,
            tasks,
        ))
    }
}
