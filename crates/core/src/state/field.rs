//! The fields of a state, and sets of them.

use std::borrow::Cow;
use std::fmt;

/// One field of a state: its name, and the rules for writes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: Cow<'static, str>,
    reduced: bool,
    ephemeral: bool,
    untracked: bool,
    ty: &'static str,
    reducer: &'static str,
    aliases: &'static [&'static str],
}

impl Field {
    /// Creates a field whose last write wins, and which only one node per superstep may write.
    pub const fn plain(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            reduced: false,
            ephemeral: false,
            untracked: false,
            ty: "",
            reducer: "",
            aliases: &[],
        }
    }

    /// Creates a plain field whose name is only known at run time.
    pub fn named(name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            ..Self::plain("")
        }
    }

    /// Sets the text of its type, by which a thread knows the state again.
    #[must_use]
    pub const fn typed(mut self, ty: &'static str) -> Self {
        self.ty = ty;
        self
    }

    /// Sets the names under which older versions have stored it.
    #[must_use]
    pub const fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    /// Marks a field with a reducer, so several nodes may write it.
    #[must_use]
    pub const fn reduced(mut self) -> Self {
        self.reduced = true;
        self
    }

    /// Marks a field with a reducer of that name; a change of the name is a change of the reducer.
    #[must_use]
    pub const fn reduced_by(mut self, reducer: &'static str) -> Self {
        self.reducer = reducer;
        self.reduced()
    }

    /// Marks a field that is visible only in the next superstep, and then has its default again.
    #[must_use]
    pub const fn ephemeral(mut self) -> Self {
        self.ephemeral = true;
        self
    }

    /// Marks a field that lives for the run and is never stored.
    #[must_use]
    pub const fn untracked(mut self) -> Self {
        self.untracked = true;
        self
    }

    /// Returns the field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text of its type; empty if it is not set.
    pub const fn type_text(&self) -> &'static str {
        self.ty
    }

    /// Returns the name of its reducer; empty if it has none or the name is not set.
    pub const fn reducer(&self) -> &'static str {
        self.reducer
    }

    /// Returns the names under which older versions have stored it.
    pub const fn former_names(&self) -> &'static [&'static str] {
        self.aliases
    }

    /// Returns true if values are stored under `name`, today or in older versions.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Returns true if a reducer merges the writes.
    pub const fn is_reduced(&self) -> bool {
        self.reduced
    }

    /// Returns true if the field has its default again after the next superstep.
    pub const fn is_ephemeral(&self) -> bool {
        self.ephemeral
    }

    /// Returns true if the field is never stored.
    pub const fn is_untracked(&self) -> bool {
        self.untracked
    }
}

/// A set of fields, by their position in `State::fields`.
///
/// States of up to 64 fields need no allocation.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    low: u64,
    high: Vec<u64>,
}

impl FieldSet {
    /// Creates an empty set.
    pub const fn new() -> Self {
        Self {
            low: 0,
            high: Vec::new(),
        }
    }

    /// Creates a set of the first `count` fields.
    pub fn first(count: usize) -> Self {
        (0..count).collect()
    }

    /// Creates the set of the fields whose bits are set: the first 64.
    pub const fn from_bits(bits: u64) -> Self {
        Self {
            low: bits,
            high: Vec::new(),
        }
    }

    /// Returns a bit for each field; `None` if the set has fields beyond the first 64.
    #[inline]
    pub const fn bits(&self) -> Option<u64> {
        if self.high.is_empty() {
            Some(self.low)
        } else {
            None
        }
    }

    /// Adds the field at `index`.
    #[inline]
    pub fn insert(&mut self, index: usize) {
        if index < 64 {
            self.low |= 1 << index;
        } else {
            self.insert_high(index);
        }
    }

    fn insert_high(&mut self, index: usize) {
        let word = index / 64 - 1;
        if self.high.len() <= word {
            self.high.resize(word + 1, 0);
        }
        if let Some(bits) = self.high.get_mut(word) {
            *bits |= 1 << (index % 64);
        }
    }

    /// Returns true if the field at `index` is in the set.
    pub fn contains(&self, index: usize) -> bool {
        let bits = if index < 64 {
            self.low
        } else {
            self.high.get(index / 64 - 1).copied().unwrap_or(0)
        };
        bits >> (index % 64) & 1 == 1
    }

    /// Returns true if the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.low == 0 && (self.high.is_empty() || self.high.iter().all(|bits| *bits == 0))
    }

    /// Adds every field of `other`.
    #[inline]
    pub fn union_with(&mut self, other: &Self) {
        self.low |= other.low;
        if other.high.is_empty() {
            return;
        }
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        for (mine, theirs) in self.high.iter_mut().zip(&other.high) {
            *mine |= theirs;
        }
    }

    /// Removes every field of `other`.
    #[inline]
    pub fn remove_all(&mut self, other: &Self) {
        self.low &= !other.low;
        for (mine, theirs) in self.high.iter_mut().zip(&other.high) {
            *mine &= !theirs;
        }
        self.trim();
    }

    /// Removes empty words, without which sets of the same fields are equal.
    fn trim(&mut self) {
        while self.high.last() == Some(&0) {
            self.high.pop();
        }
    }

    /// Returns true if the sets share a field.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        self.low & other.low != 0
            || (self.high.iter().zip(&other.high)).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Returns the fields that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let high = self.high.iter().zip(&other.high);
        let mut both = Self {
            low: self.low & other.low,
            high: high.map(|(mine, theirs)| mine & theirs).collect(),
        };
        both.trim();
        both
    }

    /// Returns the positions in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..64 * (self.high.len() + 1)).filter(|index| self.contains(*index))
    }
}

impl FromIterator<usize> for FieldSet {
    fn from_iter<I: IntoIterator<Item = usize>>(indices: I) -> Self {
        let mut set = Self::new();
        for index in indices {
            set.insert(index);
        }
        set
    }
}

impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_beyond_64_fields_keep_their_members_apart() {
        let mut set: FieldSet = [1, 63, 64, 200].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 63, 64, 200]);
        assert!(!set.contains(65) && !set.contains(10_000));
        set.remove_all(&[63, 200].into_iter().collect());
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 64]);
        let other: FieldSet = [64, 300].into_iter().collect();
        assert_eq!(set.intersection(&other).iter().collect::<Vec<_>>(), [64]);
        set.union_with(&other);
        assert!(set.contains(300) && set.contains(1));
        assert_eq!(set.bits(), None);
        let few: FieldSet = [0, 63].into_iter().collect();
        assert_eq!(few.bits().map(FieldSet::from_bits), Some(few));
    }

    #[test]
    fn sets_that_have_lost_their_fields_beyond_64_are_equal_to_those_without() {
        let few: FieldSet = [1, 63].into_iter().collect();
        let mut set: FieldSet = [1, 63, 64, 200].into_iter().collect();
        assert_eq!(set.intersection(&few), few);
        set.remove_all(&[64, 200].into_iter().collect());
        assert_eq!((set.bits(), &set), (few.bits(), &few));
    }
}
