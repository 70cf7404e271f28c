//! Records next to each other in a log.

use std::borrow::Cow;
use std::sync::Arc;

use super::linked::Linked;
use super::record::Record;
use crate::checkpoint_id::CheckpointId;

/// Records next to each other in a log.
#[derive(Clone)]
pub(super) enum Chunk {
    Records(Arc<Vec<Record>>),
    Links(Linked),
}

impl Chunk {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Records(records) => records.len(),
            Self::Links(links) => links.len(),
        }
    }

    /// Returns the id of its first record.
    pub(super) fn first_id(&self) -> Option<CheckpointId> {
        match self {
            Self::Records(records) => records.first().map(Record::id),
            Self::Links(links) => links.id(0),
        }
    }

    /// Returns where a record is, or where it belongs.
    pub(super) fn find(&self, id: CheckpointId) -> Result<usize, usize> {
        match self {
            Self::Records(records) => records.binary_search_by_key(&id, Record::id),
            Self::Links(links) => links.find(id),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Cow<'_, Record>> {
        match self {
            Self::Records(records) => records.get(index).map(Cow::Borrowed),
            Self::Links(links) => links.record(index).map(Cow::Owned),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Cow<'_, Record>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Returns the records, to change them.
    pub(super) fn records_mut(&mut self) -> Option<&mut Vec<Record>> {
        if let Self::Links(links) = self {
            *self = Self::Records(Arc::new(links.own_records(|_| true)));
        }
        match self {
            Self::Records(records) => Some(Arc::make_mut(records)),
            Self::Links(_) => None,
        }
    }

    /// Removes the records that are not wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&Record) -> bool) {
        if self.iter().all(|record| wanted(&record)) {
            return;
        }
        match self {
            Self::Records(records) => Arc::make_mut(records).retain(wanted),
            Self::Links(links) => *self = Self::Records(Arc::new(links.own_records(wanted))),
        }
    }
}
