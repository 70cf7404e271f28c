//! The checkpoints that a state is made of.

use std::ops::{Deref, RangeInclusive};

use langgraph::checkpoint::CheckpointId;

/// A checkpoint of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The checkpoint.
    pub id: CheckpointId,
    /// The number of its first row.
    pub first: i64,
    /// The number of its last row.
    pub last: i64,
}

/// Finds the checkpoints from the nearest snapshot on up to one that is wanted.
///
/// A base is older than what is made from it. So it is given the checkpoints of a log,
/// newest first, from the wanted one on.
///
/// # Examples
///
/// ```
/// use langgraph::checkpoint::CheckpointId;
/// use langgraph_sql::{Link, LinkFinder};
///
/// let [a, b, c] = {
///     let a = CheckpointId::after(None);
///     let b = CheckpointId::after(Some(a));
///     [a, b, CheckpointId::after(Some(b))]
/// };
/// // The id, the base, and whether there is a snapshot.
/// let log = [(c, Some(a), false), (b, Some(a), false), (a, None, true)];
/// let mut finder = LinkFinder::new(c);
/// for (number, (id, base, snapshot)) in (0..).zip(log) {
///     let link = Link { id, first: -number, last: -number };
///     if !finder.goes_on(link, base, snapshot) {
///         break;
///     }
/// }
/// let ids: Vec<_> = finder.links().iter().map(|link| link.id).collect();
/// assert_eq!(ids, [a, c]);
/// ```
#[derive(Clone, Debug)]
pub struct LinkFinder {
    /// Newest first, until all are found.
    links: Vec<Link>,
    wanted: CheckpointId,
}

impl LinkFinder {
    /// The chain of that checkpoint, before any was found.
    pub fn new(wanted: CheckpointId) -> Self {
        Self {
            links: Vec::new(),
            wanted,
        }
    }

    /// The checkpoint that is looked for now.
    pub fn wanted(&self) -> CheckpointId {
        self.wanted
    }

    /// Takes the next older checkpoint of the log; false when the chain is whole, or has no
    /// beginning.
    pub fn goes_on(&mut self, link: Link, base: Option<CheckpointId>, snapshot: bool) -> bool {
        if link.id != self.wanted {
            // A checkpoint of another branch, unless what is wanted is not there.
            return link.id > self.wanted;
        }
        self.links.push(link);
        match base {
            Some(base) if !snapshot => {
                self.wanted = base;
                true
            }
            _ => false,
        }
    }

    /// The checkpoints that were found, oldest first.
    pub fn links(mut self) -> Links {
        self.links.reverse();
        Links(self.links)
    }
}

/// The checkpoints of a chain, oldest first.
#[derive(Clone, Debug)]
pub struct Links(Vec<Link>);

impl Links {
    /// The numbers between which all of their rows are.
    pub fn rows(&self) -> Option<RangeInclusive<i64>> {
        let first = self.iter().map(|link| link.first).min()?;
        let last = self.iter().map(|link| link.last).max()?;
        Some(first..=last)
    }

    /// The checkpoint whose first row has that number.
    pub fn find(&self, first: i64) -> Option<&Link> {
        // A base is stored before what is made from it.
        let found = self.binary_search_by_key(&first, |link| link.first);
        self.get(found.ok()?)
    }

    /// True when the rows of each checkpoint follow those of the one before: nothing has come later
    /// to one that others were based on. A row that two of them share is the last and the first.
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
