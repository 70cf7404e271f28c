//! Lists that mostly hold one item.

/// A list whose only item needs no allocation.
#[derive(Clone)]
pub(super) enum Few<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Few<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Many(items) => items,
        }
    }

    pub(super) fn push(&mut self, item: T) {
        let mut items = match std::mem::take(self) {
            Self::One(first) => vec![first],
            Self::Many(items) if items.is_empty() => {
                *self = Self::One(item);
                return;
            }
            Self::Many(items) => items,
        };
        items.push(item);
        *self = Self::Many(items);
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(mut items: Vec<T>) -> Self {
        match items.pop() {
            None => Self::default(),
            Some(only) if items.is_empty() => Self::One(only),
            Some(last) => {
                items.push(last);
                Self::Many(items)
            }
        }
    }
}
