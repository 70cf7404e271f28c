//! Items from a database.

use langgraph_store::{Answer, Item};

/// A row of the table of items.
#[derive(Debug)]
pub struct Found {
    /// The number of the row.
    pub id: i64,
    /// When the item was written, in milliseconds.
    pub updated_at: i64,
    /// How long the item lives after it is read or written, in milliseconds.
    pub ttl: Option<i64>,
    /// The item.
    pub item: Item,
}

/// An item whose time to live restarts.
#[derive(Clone, Copy, Debug)]
pub struct Renewal {
    /// The number of the row.
    pub id: i64,
    /// When the item was written. A later put has set its own time to live.
    pub updated_at: i64,
    /// The time to live, in milliseconds.
    pub ttl: i64,
}

impl Found {
    fn renewal(&self) -> Option<Renewal> {
        Some(Renewal {
            id: self.id,
            updated_at: self.updated_at,
            ttl: self.ttl?,
        })
    }
}

/// Returns the answer to a request for one item, or for `many`. With `refresh`, it adds the items
/// with a time to live to `renewals`.
pub fn answer(found: Vec<Found>, many: bool, refresh: bool, renewals: &mut Vec<Renewal>) -> Answer {
    if refresh {
        renewals.extend(found.iter().filter_map(Found::renewal));
    }
    let mut items = found.into_iter().map(|found| found.item);
    if many {
        Answer::Items(items.collect())
    } else {
        Answer::Item(items.next())
    }
}
