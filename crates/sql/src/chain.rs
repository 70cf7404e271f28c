//! The ancestors that make up the state of a checkpoint.

use std::collections::HashMap;
use std::ops::{Deref, RangeInclusive};

use langgraph_core::checkpoint::CheckpointId;
use langgraph_core::error::CheckpointError;

/// A checkpoint of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The number of its first row.
    pub first: i64,
    /// The number of its last row.
    pub last: i64,
    /// How many rows it has; `None` if it was stored before they were counted.
    pub count: Option<i64>,
}

impl Link {
    /// Creates a link from the stored numbers of its rows.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] if no checkpoint has such rows.
    pub fn stored(
        id: CheckpointId,
        first: i64,
        last: i64,
        count: Option<i64>,
    ) -> Result<Self, CheckpointError> {
        if first < 0 || last < first || last > i64::from(u32::MAX) {
            return Err(CheckpointError::Corrupt(format!(
                "checkpoint `{id}` cannot have the rows from {first} to {last}"
            )));
        }
        Ok(Self {
            id,
            first,
            last,
            count,
        })
    }

    /// The error of a checkpoint whose last row is another one than was stored.
    pub fn ends_at_another(&self) -> CheckpointError {
        CheckpointError::Corrupt(format!(
            "checkpoint `{}` does not end with its row {}: a record is missing, or does not belong there",
            self.id, self.last
        ))
    }

    /// Fails unless these are the last of its rows that was found, and how many were.
    fn check_rows(&self, last: i64, count: i64) -> Result<(), CheckpointError> {
        if last != self.last {
            return Err(self.ends_at_another());
        }
        match self.count {
            Some(stored) if stored != count => Err(CheckpointError::Corrupt(format!(
                "checkpoint `{}` has {count} of its {stored} rows: a record is missing, or does not belong there",
                self.id
            ))),
            _ => Ok(()),
        }
    }
}

/// The rows that a read has found, by the first row of their checkpoint.
#[derive(Clone, Debug, Default)]
pub struct FoundRows(HashMap<i64, (i64, i64)>);

impl FoundRows {
    /// Creates it with room for that many checkpoints.
    pub fn with_capacity(checkpoints: usize) -> Self {
        Self(HashMap::with_capacity(checkpoints))
    }

    /// Adds the next row of the checkpoint whose first row has the number `first`.
    pub fn add(&mut self, first: i64, row: i64) {
        let (last, count) = self.0.entry(first).or_default();
        (*last, *count) = (row, *count + 1);
    }
}

/// Finds the checkpoints from the nearest snapshot up to a wanted checkpoint.
///
/// A base is older than the checkpoints made from it. So pass the checkpoints of a log, newest
/// first, starting with the wanted one.
///
/// # Examples
///
/// ```
/// use langgraph_core::checkpoint::CheckpointId;
/// use langgraph_sql::{Link, LinkFinder};
///
/// # fn main() -> Result<(), langgraph_core::error::CheckpointError> {
/// let [a, b, c] = {
///     let a = CheckpointId::after(None);
///     let b = CheckpointId::after(Some(a));
///     [a, b, CheckpointId::after(Some(b))]
/// };
/// // The id, the base, and whether there is a snapshot.
/// let log = [(c, Some(a), false), (b, Some(a), false), (a, None, true)];
/// let mut finder = LinkFinder::new(c);
/// for (number, (id, base, snapshot)) in (0..).zip(log) {
///     let link = Link { id, first: 2 - number, last: 2 - number, count: Some(1) };
///     if !finder.goes_on(link, base, snapshot) {
///         break;
///     }
/// }
/// let ids: Vec<_> = finder.links()?.iter().map(|link| link.id).collect();
/// assert_eq!(ids, [a, c]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LinkFinder {
    /// Newest first, until the chain is complete.
    links: Vec<Link>,
    wanted: CheckpointId,
    complete: bool,
}

impl LinkFinder {
    /// Starts the chain of that checkpoint.
    pub fn new(wanted: CheckpointId) -> Self {
        Self {
            links: Vec::new(),
            wanted,
            complete: false,
        }
    }

    /// Returns the checkpoint to find next.
    pub fn wanted(&self) -> CheckpointId {
        self.wanted
    }

    /// Takes the next older checkpoint of the log. Returns false if the chain is complete, or has
    /// no beginning.
    pub fn goes_on(&mut self, link: Link, base: Option<CheckpointId>, snapshot: bool) -> bool {
        if link.id != self.wanted {
            // A checkpoint of another branch, unless the wanted one is missing.
            return link.id > self.wanted;
        }
        self.links.push(link);
        match base {
            Some(base) if !snapshot => {
                self.wanted = base;
                true
            }
            _ => {
                self.complete = true;
                false
            }
        }
    }

    /// Returns the checkpoints found, oldest first; none if the wanted one does not exist.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] if one of them is based on a checkpoint that does not exist.
    pub fn links(mut self) -> Result<Links, CheckpointError> {
        if let (Some(last), false) = (self.links.last(), self.complete) {
            return Err(CheckpointError::Corrupt(format!(
                "checkpoint `{}`, on which checkpoint `{}` is based, is missing",
                self.wanted, last.id
            )));
        }
        self.links.reverse();
        let mut pairs = self.links.windows(2);
        if let Some([base, link]) = pairs.find(|pair| matches!(pair, [a, b] if a.first >= b.first))
        {
            return Err(CheckpointError::Corrupt(format!(
                "checkpoint `{}` begins with row {}, before the one that it is based on, with row {}",
                link.id, link.first, base.first
            )));
        }
        Ok(Links(self.links))
    }
}

/// The checkpoints of a chain, oldest first.
#[derive(Clone, Debug)]
pub struct Links(Vec<Link>);

impl Links {
    /// Returns the range that contains all of their rows.
    pub fn rows(&self) -> Option<RangeInclusive<i64>> {
        let first = self.iter().map(|link| link.first).min()?;
        let last = self.iter().map(|link| link.last).max()?;
        Some(first..=last)
    }

    /// Returns the checkpoint whose first row has that number.
    pub fn find(&self, first: i64) -> Option<&Link> {
        // A base is stored before the checkpoints made from it.
        let found = self.binary_search_by_key(&first, |link| link.first);
        self.get(found.ok()?)
    }

    /// Fails unless these are the rows of each checkpoint: as many as were stored, up to its last.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`], because rows are missing, or do not belong there.
    pub fn check_rows(&self, found: &FoundRows) -> Result<(), CheckpointError> {
        for link in self.iter() {
            let Some((last, count)) = found.0.get(&link.first) else {
                return Err(link.ends_at_another());
            };
            link.check_rows(*last, *count)?;
        }
        Ok(())
    }

    /// Returns true if the rows of each checkpoint follow those of the one before: no base got rows
    /// after its child was stored. A row that two of them share is the last and the first.
    pub fn are_in_order(&self) -> bool {
        let mut pairs = self.windows(2);
        pairs.all(|pair| matches!(pair, [a, b] if a.last <= b.first))
    }
}

impl Deref for Links {
    type Target = [Link];

    fn deref(&self) -> &[Link] {
        &self.0
    }
}
