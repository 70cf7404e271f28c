//! The records of a log, in chunks.

use std::borrow::Cow;
use std::sync::Arc;

use super::chunk::Chunk;
use super::linked::Linked;
use super::record::Record;
use crate::checkpoint::{CheckpointRecord, Links};
use crate::checkpoint_id::CheckpointId;

/// How many records a chunk holds; one into which a record was inserted may hold more, and so may one of links.
const CHUNK: usize = 32;

/// Records in the order of their ids, which is nearly always that of their creation. A long log
/// never moves as a whole, and a copy of it shares the chunks that neither log changes.
#[derive(Clone, Default)]
pub(super) struct Records {
    /// None is empty.
    chunks: Vec<Chunk>,
}

/// The index of a chunk, and that of a record in it.
type Place = (usize, usize);

impl Records {
    pub(super) fn iter(&self) -> impl Iterator<Item = Cow<'_, Record>> {
        self.chunks.iter().flat_map(Chunk::iter)
    }

    pub(super) fn get(&self, id: CheckpointId) -> Option<Cow<'_, Record>> {
        let (chunk, index) = self.find(id).ok()?;
        self.chunks.get(chunk)?.get(index)
    }

    pub(super) fn get_mut(&mut self, id: CheckpointId) -> Option<&mut Record> {
        let (chunk, index) = self.find(id).ok()?;
        self.chunks.get_mut(chunk)?.records_mut()?.get_mut(index)
    }

    /// Adds a checkpoint without records, or replaces the one with its id.
    pub(super) fn insert(&mut self, checkpoint: CheckpointRecord) {
        let place = self.find(checkpoint.id);
        let record = Record::new(checkpoint);
        let (chunk, index) = place.unwrap_or_else(|free| free);
        let is_last = chunk + 1 >= self.chunks.len();
        let found = self.chunks.get_mut(chunk);
        match found.filter(|found| !is_last || index < found.len()) {
            None => self.push(record),
            Some(found) => {
                let records = found.records_mut();
                if let (Some(records), Ok(_)) = (records, place) {
                    records.splice(index..=index, [record]);
                } else if let Some(records) = found.records_mut() {
                    records.insert(index, record);
                }
            }
        }
    }

    /// Adds links behind the newest checkpoint.
    pub(super) fn link(&mut self, links: Arc<dyn Links>) {
        let newest = self.chunks.last_mut().and_then(Chunk::records_mut);
        let newest = newest.and_then(|records| records.last_mut());
        let linked = newest.and_then(|newest| Linked::behind(newest, links));
        if let Some((linked, last)) = linked {
            self.chunks.extend(linked.map(Chunk::Links));
            self.push(last);
        }
    }

    /// Returns the id of the last record.
    pub(super) fn last_id(&self) -> Option<CheckpointId> {
        let newest = self.chunks.last()?;
        Some(newest.get(newest.len().checked_sub(1)?)?.id())
    }

    /// Adds a record behind all others.
    fn push(&mut self, record: Record) {
        if let Some(Chunk::Records(records)) = self.chunks.last_mut()
            && records.len() < CHUNK
        {
            return Arc::make_mut(records).push(record);
        }
        // A short log has only what it needs.
        let mut records = Vec::with_capacity(if self.chunks.is_empty() { 1 } else { 4 });
        records.push(record);
        self.chunks.push(Chunk::Records(Arc::new(records)));
    }

    /// Removes the records that are not wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&Record) -> bool) {
        for chunk in &mut self.chunks {
            chunk.retain(&wanted);
        }
        self.chunks.retain(|chunk| chunk.len() > 0);
    }

    /// Returns where a record is, or where it belongs.
    fn find(&self, id: CheckpointId) -> Result<Place, Place> {
        // A run writes to the last two: the checkpoint whose tasks have run, and the next.
        if let Some((Chunk::Records(newest), before)) = self.chunks.split_last() {
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
        let begins_by = |chunk: &Chunk| chunk.first_id().is_some_and(|first| first <= id);
        let place = self.chunks.partition_point(begins_by).saturating_sub(1);
        let found = self
            .chunks
            .get(place)
            .map_or(Err(0), |chunk| chunk.find(id));
        found
            .map(|index| (place, index))
            .map_err(|index| (place, index))
    }
}
