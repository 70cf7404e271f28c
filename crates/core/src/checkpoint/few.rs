//! Lists that mostly hold one item.

use std::iter::Chain;
use std::ops::{Deref, DerefMut};
use std::{fmt, option, slice, vec};

/// A list that mostly holds one item, which then needs no allocation. It is a slice, and grows.
///
/// # Examples
///
/// ```
/// use langgraph::checkpoint::Few;
///
/// let mut few: Few<u8> = [1].into_iter().collect();
/// few.push(2);
/// assert_eq!(&few[..], [1, 2]);
/// ```
#[derive(Clone)]
pub struct Few<T>(Items<T>);

#[derive(Clone)]
enum Items<T> {
    One(T),
    Any(Vec<T>),
}

impl<T> Few<T> {
    /// Creates a list of one item.
    pub const fn one(item: T) -> Self {
        Self(Items::One(item))
    }

    /// Adds an item.
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Items::Any(items) if items.is_empty() => self.0 = Items::One(item),
            Items::Any(items) => items.push(item),
            Items::One(_) => {
                let mut items = Vec::with_capacity(4);
                items.extend(std::mem::take(self));
                items.push(item);
                self.0 = Items::Any(items);
            }
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(Items::Any(Vec::new()))
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Items::One(item) => slice::from_ref(item),
            Items::Any(items) => items,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Items::One(item) => slice::from_mut(item),
            Items::Any(items) => items,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(items: Vec<T>) -> Self {
        Self(Items::Any(items))
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let items = items.into_iter();
        if items.size_hint().0 > 1 {
            return Self(Items::Any(items.collect()));
        }
        let mut few = Self::default();
        items.for_each(|item| few.push(item));
        few
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = Chain<option::IntoIter<T>, vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, any) = match self.0 {
            Items::One(item) => (Some(item), Vec::new()),
            Items::Any(items) => (None, items),
        };
        one.into_iter().chain(any)
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Few<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
