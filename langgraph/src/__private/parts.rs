//! The update of a state with many fields: a list of what it writes.

use std::cmp::Ordering;
use std::iter::Chain;
use std::{mem, option, vec};

use crate::state::FieldSet;

/// What an update writes to one field.
pub trait Part {
    /// Returns the place of the field in `State::fields`.
    fn place(&self) -> usize;
}

/// The parts of an update: one for each field that it writes, in the order of the fields.
///
/// An update that writes one field allocates nothing, because the first part is not in the vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts<P> {
    first: Option<P>,
    /// Empty if there is no first part.
    more: Vec<P>,
}

impl<P> Default for Parts<P> {
    #[inline]
    fn default() -> Self {
        Self {
            first: None,
            more: Vec::new(),
        }
    }
}

impl<P: Part> Parts<P> {
    /// Creates an empty list with room for the parts of so many fields.
    pub fn with_capacity(fields: usize) -> Self {
        Self {
            first: None,
            more: Vec::with_capacity(fields.saturating_sub(1)),
        }
    }

    /// Returns how many fields are written.
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    /// Returns true if no field is written.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Sets the part of a field, in place of an earlier one.
    #[inline]
    pub fn set(&mut self, part: P) {
        match &mut self.first {
            first @ None => *first = Some(part),
            Some(first) => set_beside(first, &mut self.more, part),
        }
    }

    /// Returns the parts.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.first.iter().chain(&self.more)
    }

    /// Returns the parts, to be changed; each stays that of its field.
    #[inline]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.first.iter_mut().chain(&mut self.more)
    }

    /// Returns the fields that are written.
    pub fn written(&self) -> FieldSet {
        self.iter().map(P::place).collect()
    }

    /// Removes the parts of these fields.
    pub fn discard(&mut self, fields: &FieldSet) {
        let is_kept = |part: &P| !fields.contains(part.place());
        self.more.retain(is_kept);
        if !self.first.as_ref().is_none_or(is_kept) {
            let next = (!self.more.is_empty()).then(|| self.more.remove(0));
            self.first = next;
        }
    }
}

/// Sets a part of an update that has a first one.
fn set_beside<P: Part>(first: &mut P, more: &mut Vec<P>, part: P) {
    let place = part.place();
    match place.cmp(&first.place()) {
        Ordering::Less => more.insert(0, mem::replace(first, part)),
        Ordering::Equal => *first = part,
        // Most updates are written in the order of the fields.
        Ordering::Greater if more.last().is_none_or(|last| last.place() < place) => more.push(part),
        Ordering::Greater => match more.binary_search_by_key(&place, P::place) {
            Ok(at) => {
                if let Some(old) = more.get_mut(at) {
                    *old = part;
                }
            }
            Err(at) => more.insert(at, part),
        },
    }
}

impl<P> IntoIterator for Parts<P> {
    type Item = P;
    type IntoIter = Chain<option::IntoIter<P>, vec::IntoIter<P>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.more)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Part, Parts};
    use crate::state::FieldSet;

    impl Part for (usize, u32) {
        fn place(&self) -> usize {
            self.0
        }
    }

    /// Whatever is set and discarded, the list is what a map from places to values is.
    #[test]
    fn a_list_of_parts_is_a_map_in_the_order_of_the_fields() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let (mut parts, mut map) = (Parts::default(), BTreeMap::new());
            for value in 0..random.u32(0..40) {
                let place = random.usize(0..90);
                if random.u8(0..4) == 0 {
                    let fields: FieldSet = (place..place + random.usize(0..50)).collect();
                    parts.discard(&fields);
                    map.retain(|place, _| !fields.contains(*place));
                } else {
                    parts.set((place, value));
                    map.insert(place, value);
                }
                assert_eq!(parts.len(), map.len());
                assert_eq!(parts.is_empty(), map.is_empty());
                assert_eq!(parts.written(), map.keys().copied().collect());
                assert!(parts.clone().into_iter().eq(map.clone()));
            }
            for (_, value) in parts.iter_mut() {
                *value += 1;
            }
            for value in map.values_mut() {
                *value += 1;
            }
            assert!(parts.iter().copied().eq(map));
        }
    }
}
