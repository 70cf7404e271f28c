//! The records of a log, in chunks.

use std::sync::Arc;

use super::record::Record;
use crate::checkpoint::{CheckpointRecord, Link};
use crate::checkpoint_id::CheckpointId;

/// How many records a chunk holds; one into which a record was inserted may hold more.
const CHUNK: usize = 32;

/// Records in the order of their ids, which is nearly always that of their creation. A long log
/// never moves as a whole, and a copy of it shares the chunks that neither log changes.
#[derive(Clone, Default)]
pub(super) struct Records {
    /// None is empty.
    chunks: Vec<Arc<Vec<Record>>>,
}

/// The index of a chunk, and that of a record in it.
type Place = (usize, usize);

impl Records {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    pub(super) fn get(&self, id: CheckpointId) -> Option<&Record> {
        let (chunk, index) = self.find(id).ok()?;
        self.chunks.get(chunk)?.get(index)
    }

    pub(super) fn get_mut(&mut self, id: CheckpointId) -> Option<&mut Record> {
        let (chunk, index) = self.find(id).ok()?;
        Arc::make_mut(self.chunks.get_mut(chunk)?).get_mut(index)
    }

    /// Adds a checkpoint without records, or replaces the one with its id.
    pub(super) fn insert(&mut self, checkpoint: CheckpointRecord) {
        let place = self.find(checkpoint.id);
        let record = Record::new(checkpoint);
        let (chunk, index) = place.unwrap_or_else(|free| free);
        let is_last = chunk + 1 >= self.chunks.len();
        match self.chunks.get_mut(chunk).map(Arc::make_mut) {
            Some(records) if place.is_ok() => {
                records.splice(index..=index, [record]);
            }
            Some(records) if !is_last || index < records.len() => records.insert(index, record),
            _ => self.push(record),
        }
    }

    /// Adds a link behind the newest checkpoint `before`; returns it if that is another one.
    #[inline]
    pub(super) fn link(&mut self, before: CheckpointId, link: Link) -> Option<Link> {
        let Some(records) = self.chunks.last_mut().map(Arc::make_mut) else {
            return Some(link);
        };
        let newest = records.last_mut();
        let Some(newest) = newest.filter(|newest| newest.id() == before) else {
            return Some(link);
        };
        if !before.is_before(link.id) {
            return Some(link);
        }
        let record = newest.link(link);
        match records.len() {
            ..CHUNK => records.push(record),
            _ => self.begin(record),
        }
        None
    }

    /// Adds a record behind all others.
    fn push(&mut self, record: Record) {
        match self.chunks.last_mut().map(Arc::make_mut) {
            Some(records) if records.len() < CHUNK => records.push(record),
            _ => self.begin(record),
        }
    }

    /// Begins a chunk with a record. A short log has only what it needs.
    fn begin(&mut self, record: Record) {
        let mut records = Vec::with_capacity(if self.chunks.is_empty() { 1 } else { CHUNK });
        records.push(record);
        self.chunks.push(Arc::new(records));
    }

    /// Removes the records that are not wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&Record) -> bool) {
        for chunk in &mut self.chunks {
            if !chunk.iter().all(&wanted) {
                Arc::make_mut(chunk).retain(&wanted);
            }
        }
        self.chunks.retain(|chunk| !chunk.is_empty());
    }

    /// Returns where a record is, or where it belongs.
    #[inline]
    fn find(&self, id: CheckpointId) -> Result<Place, Place> {
        // A run writes to the last two: the checkpoint whose tasks have run, and the next.
        if let Some((newest, before)) = self.chunks.split_last() {
            match &***newest {
                [.., record] if record.id().is_before(id) => {
                    return Err((before.len(), newest.len()));
                }
                [.., record] if record.id() == id => return Ok((before.len(), newest.len() - 1)),
                [.., record, _] if record.id() == id => {
                    return Ok((before.len(), newest.len() - 2));
                }
                _ => {}
            }
        }
        self.search(id)
    }

    #[cold]
    fn search(&self, id: CheckpointId) -> Result<Place, Place> {
        let begins_by = |chunk: &Arc<Vec<Record>>| chunk.first().is_some_and(|r| r.id() <= id);
        let chunk = self.chunks.partition_point(begins_by).saturating_sub(1);
        let records = self.chunks.get(chunk).map_or(&[][..], |chunk| chunk);
        let found = records.binary_search_by_key(&id, Record::id);
        found
            .map(|index| (chunk, index))
            .map_err(|index| (chunk, index))
    }
}
